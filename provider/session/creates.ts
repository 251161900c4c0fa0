/** What a session knows of its own creates. */
import type { PropertyMap } from "../propertyValue";

/** An instance that exists but was not ready when its Create call ended. */
export interface Unfinished {
  id: string;
  outputs: PropertyMap;
  /** Only listings after this mark (`ListingSource.mark`) prove anything about the instance. */
  after: number;
}

/** User data of which the state is to hold only a hash. */
export interface KeptText {
  urn: string;
  text: string;
  /** Hides the text in messages, until the session forgets it. */
  hidden: Disposable;
}

/**
 * The creates of a session. To take over is to use an instance that exists instead of creating one. No create takes over an
 * instance of another create, and no delete of an older state entry destroys an instance that was taken over.
 */
export class Creates {
  /** By URN. If an error hook makes the engine repeat a create, the create continues with its unfinished instance. */
  readonly unfinished = new Map<string, Unfinished>();
  /** The instances of this run, by id: whether a POST of this session made the instance, or it was taken over without being in a POST's response. */
  readonly ours = new Map<string, "made" | "takenOver">();
  /** The URNs of the resources whose creates this run has previewed. */
  readonly previewed = new Set<string>();
  /** By its hash: the text of user data that a create may still need. */
  readonly userData = new Map<string, KeptText>();
}
