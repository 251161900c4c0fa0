/**
 * What the calls of this process have told of the state: the engine shows a provider no more of it.
 * What the state holds, the journal need not (G1).
 */
import type { Settings } from "../config/settings";
import type { Journal } from "../journal/journal";
import { isNoted } from "../journal/notedName";
import { reveal, type PropertyMap } from "../property/value";

export class KnownState {
  /** Ids that calls carried out of the state, by resource. */
  readonly #ids = new Map<string, Set<string>>();
  /** Resources that Check has met since they were last read: a Diff is of an update, not a refresh. */
  readonly #inUpdate = new Set<string>();

  constructor(
    private readonly journal: Journal,
    private readonly settings: Pick<Settings, "baseUrl" | "tokenKind" | "apiToken">,
  ) {}

  /** A call carried this id out of the state. */
  carried(urn: string, id: string, outputs: PropertyMap): void {
    this.#ids.set(urn, new Set(this.idsOf(urn)).add(id));
    this.recorded(id);
    const entry = this.journal.find(this.settings, urn);
    if (!entry || entry.id !== undefined || entry.replaces || entry.before.includes(id)) return;
    // Of an open create only the name is known; another name is that of the one it was to replace.
    const name = reveal(outputs["name"] ?? null);
    if (typeof name === "string" && isNoted(entry.name, name, this.settings)) {
      this.journal.clear(this.settings, urn);
    }
  }

  /** Check met this resource: what follows is an update. */
  checked(urn: string): void {
    this.#inUpdate.add(urn);
  }

  /** A Diff that follows, with no Check between, compares what was read with the state (refresh). */
  isRead(urn: string): void {
    this.#inUpdate.delete(urn);
  }

  isInUpdate(urn: string): boolean {
    return this.#inUpdate.has(urn);
  }

  /** The state holds this instance, or it is proven gone: nothing more to note of it. */
  recorded(id: string): void {
    // By id, not by resource: an alias may have given the resource another URN since.
    for (const urn of this.journal.resourcesOf(this.settings, id)) {
      this.journal.clear(this.settings, urn);
    }
  }

  idsOf(urn: string): readonly string[] {
    return [...(this.#ids.get(urn) ?? [])];
  }

  /** Whether the state holds this instance. */
  holds(id: string): boolean {
    return this.#allIds().includes(id);
  }

  /** Whether this listing shows another instance that the state holds. */
  showsAnother(listed: ReadonlyMap<string, unknown>, id: string): boolean {
    return this.#allIds().some((known) => known !== id && listed.has(known));
  }

  #allIds(): string[] {
    return [...this.#ids.values()].flatMap((ids) => [...ids]);
  }
}
