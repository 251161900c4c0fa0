/** A configured provider with everything around it under a test's control. */
import { afterEach } from "@jest/globals";
import { Canceled } from "../abort";
import { resolveSettings } from "../config/configuration";
import { propertyMap, Secret, type PropertyMap, type PropertyValue } from "../propertyValue";
import { Session, type Owner } from "../session/session";
import type { Messages, ProviderContext } from "../context";
import { Redactor } from "../redaction";
import { instanceToken } from "../pulumiNames";
import { FakeService } from "./fakeService";
import { temporaryFolder } from "./temporaryFolder";
import { VirtualClock } from "./virtualClock";

export const liveToken = "sk_live_acme_canary1";
export const testToken = "sk_test_acme_canary1";

const leftovers: (() => void)[] = [];
afterEach(() => {
  for (const remove of leftovers.splice(0)) remove();
});

/** Keeps what it was told, as "kind text". */
class RecordedMessages implements Messages {
  readonly all: string[] = [];
  status = (_urn: string, text: string) => void this.all.push(`status ${text}`);
  info = (text: string) => void this.all.push(`info ${text}`);
  warning = (text: string) => void this.all.push(`warning ${text}`);
  debug = (text: string) => void this.all.push(`debug ${text}`);
  get warnings(): string[] {
    return this.all.filter((line) => line.startsWith("warning "));
  }
}

export interface Scene {
  session: Session;
  service: FakeService;
  clock: VirtualClock;
  messages: RecordedMessages;
  ctx: ProviderContext;
  cancel: () => void;
  /** A later run of the plugin: a new process with the same service, disk and clock. */
  nextRun: (args?: Record<string, PropertyValue>, owner?: Partial<Owner>) => Scene;
  /** Another run of the plugin, while this one is still alive. */
  beside: (args?: Record<string, PropertyValue>, owner?: Partial<Owner>) => Scene;
}

type Shared = Pick<Scene, "service" | "clock"> & { home: string; disk: { busy: number } };

/** Whose run it is: the provider resource's own id. */
export const scopeId = "0c9d3a52-scope";

let sessions = 0;

/** `args` is the provider's configuration, beside an address and a live token. */
export function scene(
  args: Record<string, PropertyValue> = {},
  shared = newWorld(),
  owner: Partial<Owner> = {},
): Scene {
  const { service, clock, home, disk } = shared;
  const messages = new RecordedMessages();
  const ctx: ProviderContext = {
    messages,
    redactor: new Redactor(),
    clock,
    env: { PULUMI_HOME: home },
    createApi: () => service,
  };
  const cancellation = new AbortController();
  const all = propertyMap({
    baseUrl: "https://api.example.com/v2",
    apiToken: new Secret(liveToken),
    ...args,
  });
  const session = new Session(resolveSettings(all, {}), ctx, () => cancellation.signal, {
    sessionId: `session${++sessions}`,
    scope: scopeId,
    stateless: false,
    providerUrn: undefined,
    ...owner,
  });
  leftovers.push(() => void session.ledger.close());
  const begin = session.ledger.begin.bind(session.ledger);
  session.ledger.begin = async (fields) => {
    disk.busy++;
    return await begin(fields).finally(() => disk.busy--);
  };
  return {
    session,
    service,
    clock,
    messages,
    ctx,
    cancel: () => cancellation.abort(new Canceled()),
    nextRun: (other = args, by = owner) => {
      // The process is gone, and with it its lock.
      void session.ledger.close();
      return scene(other, shared, by);
    },
    beside: (other = args, by = owner) => scene(other, shared, by),
  };
}

function newWorld(): Shared {
  const clock = new VirtualClock();
  const disk = { busy: 0 };
  // Time flies: whoever sleeps is woken in order as soon as all is quiet, the real disk too.
  const moving = clock.autoAdvance({ isIdle: () => disk.busy === 0 });
  leftovers.push(() => moving[Symbol.dispose]());
  return { service: new FakeService(), clock, home: temporaryFolder(), disk };
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

/** What an operation ends with, when it does not end well. */
export async function errorOf<T>(operation: Promise<T>): Promise<Error> {
  const error = await operation.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Error) return error;
  throw new Error("it ended well");
}
