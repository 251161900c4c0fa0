/**
 * The model of the engine makes the calls that the real one was recorded to make: engine.ts is held to
 * tests/engine/conversations.json. Left out: calls about the provider resource itself, but for Configure.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, expect, test } from "@jest/globals";
import { Secret, propertyMap, type PropertyMap } from "../../provider/propertyValue";
import { createProvider } from "../../provider/provider";
import { FakeService, ready } from "../../provider/testing/fakeService";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { VirtualClock } from "../../provider/testing/virtualClock";
import { Redactor } from "../../provider/redaction";
import type { LogLine } from "../engine/support/conversations/callLog";
import { callsOf, sessionsOf } from "../engine/support/conversations/sessions";
import conversations from "../engine/conversations.json";
import { recorded } from "./conversation";
import { Engine, Stack, type Program } from "./engine";

const inputs = (more: Record<string, string> = {}): PropertyMap =>
  propertyMap({ flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main", ...more });
const web: Program = { web: inputs() };
const changed: Program = { web: inputs({ flavorId: "standard-4" }) };

const clock = new VirtualClock();
const moving = clock.autoAdvance();
afterAll(() => moving[Symbol.dispose]());

class Talk {
  readonly service = new FakeService();
  readonly stack = new Stack("dev");
  readonly log: LogLine[] = [];
  readonly #home = temporaryFolder();
  #read = 0;
  #processes = 0;

  constructor(private readonly settings: Record<string, string> = {}) {}

  engine(more: Record<string, string> = {}): Engine {
    const ignore = () => undefined;
    const provider = createProvider({
      messages: { status: ignore, info: ignore, warning: ignore, debug: ignore },
      ...{ redactor: new Redactor(), clock, env: { PULUMI_HOME: this.#home } },
      createApi: () => this.service,
    });
    const args = propertyMap({
      ...{ baseUrl: "https://compute.example/v2", apiToken: new Secret("sk_test_acme_1234567") },
      ...{ ...this.settings, ...more },
    });
    this.service.posts.push(...Array.from({ length: 3 }, () => ready));
    return new Engine(this.stack, recorded(provider, ++this.#processes, this.log), args, {
      pause: () => clock.sleep(1),
      saves: () => true,
      randomSeed: () => randomBytes(32),
      newScope: randomUUID,
    });
  }

  /** One instance is there. */
  async begin(): Promise<void> {
    await this.engine().up(web);
    this.#read = this.log.length;
  }

  /** The calls since the last one are those of the real engine in this operation. */
  expectCalls(operation: keyof typeof conversations.operations, firstOnly = false): void {
    const before = this.log.slice(0, this.#read);
    const sessions = sessionsOf(this.log.slice(this.#read), before);
    this.#read = this.log.length;
    const own = (calls: string[]) => calls.filter((it) => !/^(Check|Diff)Config/.test(it));
    const recordedCalls = callsOf(conversations.operations[operation]).map(own);
    // A session in which the engine only compares the provider resource is not the model's.
    const real = recordedCalls.filter((calls) => calls.some((it) => it !== "Cancel"));
    expect(callsOf(sessions)).toEqual(firstOnly ? real.slice(0, 1) : real);
  }
}

test("an instance's life: up, again, preview, refresh, destroy", async () => {
  const talk = new Talk();
  await talk.engine().up(web, { preview: true });
  await talk.engine().up(web);
  talk.expectCalls("up, with its preview");
  await talk.engine().up(web);
  talk.expectCalls("up of what is there");
  await talk.engine().up(web, { preview: true });
  talk.expectCalls("preview of what is there");
  await talk.engine().refresh();
  talk.expectCalls("refresh");
  await talk.engine().destroy();
  talk.expectCalls("destroy");
});

test("replacements: an input changed, `--replace`", async () => {
  const talk = new Talk();
  await talk.begin();
  await talk.engine().up(changed, { preview: true });
  talk.expectCalls("preview of a changed input");
  await talk.engine().up(changed);
  talk.expectCalls("up of a changed input");
  await talk.engine().up(changed, { replace: ["web"] });
  talk.expectCalls("up --replace");
});

test("siblings: what is new is made while what is there is compared", async () => {
  const talk = new Talk();
  await talk.engine().up({ a: inputs(), b: inputs() });
  talk.expectCalls("up of two");
  await talk.engine().up({ a: inputs(), c: inputs() });
  talk.expectCalls("up of one that is there, one new, one dropped");
});

test("`pulumi import`: previewed, and done", async () => {
  const talk = new Talk();
  const { id } = talk.service.has("i-there", { name: "web-main" });
  await talk.engine().import("web", id, { preview: true });
  talk.expectCalls("import --preview-only");
  await talk.engine().import("web", id, { preview: true });
  await talk.engine().import("web", id);
  talk.expectCalls("import");
  await talk.engine().up({ web: inputs({ name: "web-main" }) });
  talk.expectCalls("up after an import");
});

test("a destroy that is refused", async () => {
  const talk = new Talk({ deletePolicy: "fail" });
  await talk.begin();
  await talk.engine().destroy();
  talk.expectCalls("destroy, refused");
});

test("Ctrl-C during the wait, and the up that goes on", async () => {
  const talk = new Talk();
  const waiting = talk.engine();
  talk.service.posts.length = 0;
  await endedWhilePolling(talk, waiting, waiting.up(web));
  talk.expectCalls("up, Ctrl-C during the wait");
  const again = talk.engine();
  await endedWhilePolling(talk, again, again.up(web));
  talk.expectCalls("up of what is unfinished, Ctrl-C during the wait", true);
});

test("an engine that is killed during the wait, and the up that follows", async () => {
  const talk = new Talk();
  const killed = talk.engine();
  talk.service.posts.length = 0;
  void killed.up(web);
  await polled(talk);
  talk.expectCalls("up, engine killed during the wait");
  // It is dead: nothing of it is saved, but for the provider resource.
  const [made] = talk.service.instances.keys();
  talk.service.set(made ?? "", { status: "ACTIVE" });
  await talk
    .engine()
    .up({ web: inputs() })
    .then(() => undefined);
});

async function endedWhilePolling(talk: Talk, engine: Engine, run: Promise<void>): Promise<void> {
  await polled(talk);
  engine.cancel();
  await run;
}

/** The wait has looked a few times since. */
async function polled(talk: Talk): Promise<void> {
  const before = talk.service.count("list");
  while (talk.service.count("list") < before + 6) await clock.sleep(100);
}
