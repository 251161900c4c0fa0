/** A scene: a configured session with a fake service, a virtual clock and recorded messages. */
import { afterEach } from "@jest/globals";
import { Canceled } from "../abort";
import type { CreateRequest } from "../pulumi/calls";
import { Engine, type RunKind } from "../engine";
import type { Evidence } from "../evidence/listing";
import type { Open, Verdict } from "../evidence/witness";
import { resolveSettings } from "../config/configuration";
import { Instance } from "../instance/instance";
import { propertyMap, Secret, type PropertyMap, type PropertyValue } from "../pulumi/propertyValue";
import { runPatienceMs, Session, type SessionOptions } from "../session/session";
import { systemDisk } from "../ledger/disk";
import type { Messages, ProviderContext, Text } from "../context";
import { Redactor } from "../redaction";
import { instanceToken } from "../pulumi/names";
import { FakeDialer } from "./fakeDialer";
import { FakeService } from "./fakeService";
import { temporaryFolder } from "./temporaryFolder";
import { VirtualClock } from "./virtualClock";

export const liveToken = "sk_live_acme_canary1";
export const testToken = "sk_test_acme_canary1";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanUp of cleanups.splice(0)) cleanUp();
});

/** Records messages such as "warning …". */
class RecordedMessages implements Messages {
  readonly all: string[] = [];
  status = (_urn: string, text: string) => void this.all.push(`status ${text}`);
  info = (text: Text) => void this.all.push(`info ${[text].flat().join("\n")}`);
  warning = (text: Text) => void this.all.push(`warning ${[text].flat().join("\n")}`);
  debug = (text: string) => void this.all.push(`debug ${text}`);
  get warnings(): string[] {
    return this.all.filter((line) => line.startsWith("warning "));
  }
}

export interface Scene {
  session: Session;
  service: FakeService;
  dialer: FakeDialer;
  clock: VirtualClock;
  messages: RecordedMessages;
  ctx: ProviderContext;
  cancel: () => void;
  /** Closes this session's ledger, as the end of its process would, and starts one with the same service and disk. */
  nextRun: (args?: Record<string, PropertyValue>, run?: SceneRun) => Scene;
  /** Starts another session, while this one is still alive. */
  beside: (args?: Record<string, PropertyValue>, run?: SceneRun) => Scene;
}

/** The run of a session. By default, it has the settings of a program. */
type SceneRun = Partial<SessionOptions> & { kind?: RunKind };

/** What all sessions of a test share. */
type Shared = Pick<Scene, "service" | "dialer" | "clock"> & { home: string };

/** A disk that is never waited for, since the clock would move meanwhile. No test here cuts the power. */
const disk = { ...systemDisk, sync: async () => undefined, syncFolder: async () => undefined };

/** The id of the provider resource, which is every session's default scope. */
export const scopeId = "0c9d3a52-scope";

let sessionCount = 0;

/** Creates a session with a base address, a live token, and the settings in `args`. `run` replaces defaults. */
export function scene(
  args: Record<string, PropertyValue> = {},
  shared = newShared(),
  { kind = "program", ...run }: SceneRun = {},
): Scene {
  const { service, dialer, clock, home } = shared;
  const messages = new RecordedMessages();
  const ctx: ProviderContext = {
    messages,
    redactor: new Redactor(),
    clock,
    env: { PULUMI_HOME: home },
    disk,
    dialer,
    createApi: () => service,
  };
  const cancellation = new AbortController();
  const engine = new Engine({}, kind);
  const configuration = propertyMap({
    baseUrl: "https://api.example.com/v2",
    apiToken: new Secret(liveToken),
    ...args,
  });
  const session = new Session(
    resolveSettings(configuration, { ...ctx, env: {} }),
    ctx,
    () => cancellation.signal,
    {
      sessionId: `${process.pid}_${++sessionCount}`,
      scope: scopeId,
      engine,
      variables: {},
      patienceMs: runPatienceMs,
      ...run,
    },
  );
  cleanups.push(() => void session.ledger.close());
  return {
    session,
    service,
    dialer,
    clock,
    messages,
    ctx,
    cancel: () => {
      engine.end("interrupted");
      cancellation.abort(new Canceled());
    },
    nextRun: (nextArgs = args, nextSessionRun = { ...run, kind }) => {
      void session.ledger.close();
      // No run begins in the very moment in which the one before ends.
      const { clock } = shared;
      clock.setWallClock(new Date(clock.date().getTime() + 1));
      return scene(nextArgs, shared, nextSessionRun);
    },
    beside: (otherArgs = args, otherRun = { ...run, kind }) => scene(otherArgs, shared, otherRun),
  };
}

/** The clock moves by itself until the test ends. */
function newShared(): Shared {
  const clock = new VirtualClock();
  const autoAdvance = clock.autoAdvance();
  cleanups.push(() => autoAdvance[Symbol.dispose]());
  return {
    service: new FakeService(),
    dialer: new FakeDialer(),
    clock,
    home: temporaryFolder(),
  };
}

export function urnOf(name: string): string {
  return `urn:pulumi:dev::proj::${instanceToken}::${name}`;
}

export function inputsOf(more: Record<string, PropertyValue | undefined> = {}): PropertyMap {
  return propertyMap({
    name: "web",
    flavorId: "flavor-1",
    imageId: "image-1",
    vpcId: "vpc-1",
    ...more,
  });
}

interface Asked extends Partial<Omit<CreateRequest, "urn" | "inputs">> {
  resource?: string;
  name?: PropertyValue;
  /** Whether the provider has generated the name, so that only this create can have used it. */
  isGenerated?: boolean;
  inputs?: Record<string, PropertyValue>;
}

/** Returns a Create call of the engine, by default for the resource `web` with the explicit name "web". */
export function createOf({
  resource = "web",
  name = "web",
  isGenerated = false,
  inputs,
  ...more
}: Asked = {}): CreateRequest {
  const all = inputsOf({ name, ...(isGenerated && { __generated: name }), ...inputs });
  return { urn: urnOf(resource), inputs: all, timeoutSeconds: 0, preview: false, ...more };
}

/** How many POSTs the service has got. */
export const postsTo = ({ service }: Scene) => service.count("create");

/** The outputs of the instance "i-1" right after the 202, without a session's stamp. */
export function acceptedOutputs({ session }: Scene): PropertyMap {
  const accepted = { id: "i-1", name: "web", networks: [] };
  const origin = session.connection.origin();
  const inputs = inputsOf();
  const of = { urn: urnOf("web"), inputs };
  return Instance.accepted(of, accepted, origin, "1970-01-01T00:00:00.000Z").outputs;
}

const evidence: Evidence = {
  items: new Map(),
  complete: true,
  completeStatuses: new Set(),
  unreadable: 0,
  begunAt: 0,
  endedAt: 0,
};
/** What listings may prove of the instance "i-1". */
export const verdicts = {
  absent: { kind: "absent", proof: evidence },
  listed: (status = "ACTIVE"): Verdict => ({ kind: "listed", items: [{ id: "i-1", status }] }),
  open: (why: Open["why"]): Verdict => ({ kind: "open", why, listing: evidence }),
} as const;

/**
 * Returns the error that an operation rejects with.
 * @throws if it resolves
 */
export async function errorOf<T>(operation: Promise<T>): Promise<Error> {
  const error = await operation.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new Error("the operation did not fail");
}

/** How many lines a message takes on a screen of 100 columns, with the margin and the word that the engine puts in front of it. */
export function linesAt100(message: string): number {
  const lines = `error: ${message}`.split("\n");
  return lines.reduce((sum, line) => sum + Math.ceil((line.length + 4) / 100), 0);
}

/** The instance that a state holds with these outputs. */
export function held(outputs = propertyMap({}), more: Partial<Instance> = {}): Instance {
  return new Instance({ urn: urnOf("web"), id: "i-1", inputs: inputsOf(), outputs, ...more });
}

/** Returns the outputs, marked as those of an instance that is not ready. */
export function unfinished(outputs: PropertyMap): PropertyMap {
  return held(outputs).unfinished().outputs;
}
