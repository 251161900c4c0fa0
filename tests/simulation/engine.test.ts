/**
 * The model of the engine makes the calls that the real one was recorded to make: engine.ts is held to
 * tests/engine/recordedCalls.json. Left out: calls about the provider resource itself, but for Configure.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, expect, test } from "@jest/globals";
import { Secret, propertyMap, type PropertyMap } from "../../provider/propertyValue";
import { createProvider } from "../../provider/provider";
import { FakeService, ready } from "../../provider/testing/fakeService";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { VirtualClock } from "../../provider/testing/virtualClock";
import { Redactor } from "../../provider/redaction";
import type { LogLine } from "../engine/support/recordedCalls/callLog";
import { callsOf, sessionsOf } from "../engine/support/recordedCalls/sessions";
import realCalls from "../engine/recordedCalls.json";
import { recorded } from "./recordCalls";
import { Engine, Stack, type Program } from "./engine";

const inputs = (more: Record<string, string> = {}): PropertyMap =>
  propertyMap({ flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main", ...more });
const web: Program = { web: inputs() };
const changed: Program = { web: inputs({ flavorId: "standard-4" }) };

const clock = new VirtualClock();
const moving = clock.autoAdvance();
afterAll(() => moving[Symbol.dispose]());

class RecordedRuns {
  readonly #settings: Record<string, string>;
  readonly service = new FakeService();
  readonly stack = new Stack("dev");
  readonly log: LogLine[] = [];
  readonly #home = temporaryFolder();
  #read = 0;
  #processes = 0;

  constructor(settings: Record<string, string> = {}) {
    this.#settings = settings;
  }

  engine(more: Record<string, string> = {}): Engine {
    const ignore = () => undefined;
    const provider = createProvider({
      messages: { status: ignore, info: ignore, warning: ignore, debug: ignore },
      ...{ redactor: new Redactor(), clock, env: { PULUMI_HOME: this.#home } },
      createApi: () => this.service,
    });
    const args = propertyMap({
      ...{ baseUrl: "https://compute.example/v2", apiToken: new Secret("sk_test_acme_1234567") },
      ...{ ...this.#settings, ...more },
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
  expectCalls(operation: keyof typeof realCalls.operations, firstOnly = false): void {
    const before = this.log.slice(0, this.#read);
    const sessions = sessionsOf(this.log.slice(this.#read), before);
    this.#read = this.log.length;
    const own = (calls: string[]) => calls.filter((it) => !/^(Check|Diff)Config/.test(it));
    const recordedCalls = callsOf(realCalls.operations[operation]).map(own);
    // A session in which the engine only compares the provider resource is not the model's.
    const real = recordedCalls.filter((calls) => calls.some((it) => it !== "Cancel"));
    expect(callsOf(sessions)).toEqual(firstOnly ? real.slice(0, 1) : real);
  }
}

test("an instance's life: up, again, preview, refresh, destroy", async () => {
  const recording = new RecordedRuns();
  await recording.engine().up(web, { preview: true });
  await recording.engine().up(web);
  recording.expectCalls("up, with its preview");
  await recording.engine().up(web);
  recording.expectCalls("up of what is there");
  await recording.engine().up(web, { preview: true });
  recording.expectCalls("preview of what is there");
  await recording.engine().refresh();
  recording.expectCalls("refresh");
  await recording.engine().destroy();
  recording.expectCalls("destroy");
});

test("replacements: an input changed, `--replace`", async () => {
  const recording = new RecordedRuns();
  await recording.begin();
  await recording.engine().up(changed, { preview: true });
  recording.expectCalls("preview of a changed input");
  await recording.engine().up(changed);
  recording.expectCalls("up of a changed input");
  await recording.engine().up(changed, { replace: ["web"] });
  recording.expectCalls("up --replace");
});

test("siblings: what is new is made while what is there is compared", async () => {
  const recording = new RecordedRuns();
  await recording.engine().up({ a: inputs(), b: inputs() });
  recording.expectCalls("up of two");
  await recording.engine().up({ a: inputs(), c: inputs() });
  recording.expectCalls("up of one that is there, one new, one dropped");
});

test("`pulumi import`: previewed, and done", async () => {
  const recording = new RecordedRuns();
  const { id } = recording.service.has("i-there", { name: "web-main" });
  await recording.engine().import("web", id, { preview: true });
  recording.expectCalls("import --preview-only");
  await recording.engine().import("web", id, { preview: true });
  await recording.engine().import("web", id);
  recording.expectCalls("import");
  await recording.engine().up({ web: inputs({ name: "web-main" }) });
  recording.expectCalls("up after an import");
});

test("a destroy that is refused", async () => {
  const recording = new RecordedRuns({ deletePolicy: "fail" });
  await recording.begin();
  await recording.engine().destroy();
  recording.expectCalls("destroy, refused");
});

test("Ctrl-C during the wait, and the up that goes on", async () => {
  const recording = new RecordedRuns();
  const waiting = recording.engine();
  recording.service.posts.length = 0;
  await endedWhilePolling(recording, waiting, waiting.up(web));
  recording.expectCalls("up, Ctrl-C during the wait");
  const again = recording.engine();
  await endedWhilePolling(recording, again, again.up(web));
  recording.expectCalls("up of what is unfinished, Ctrl-C during the wait", true);
});

test("an engine that is killed during the wait, and the up that follows", async () => {
  const recording = new RecordedRuns();
  const killed = recording.engine();
  recording.service.posts.length = 0;
  void killed.up(web);
  await polled(recording);
  recording.expectCalls("up, engine killed during the wait");
  // It is dead: nothing of it is saved, but for the provider resource.
  const [made] = recording.service.instances.keys();
  recording.service.set(made ?? "", { status: "ACTIVE" });
  await recording
    .engine()
    .up({ web: inputs() })
    .then(() => undefined);
});

async function endedWhilePolling(
  recording: RecordedRuns,
  engine: Engine,
  run: Promise<void>,
): Promise<void> {
  await polled(recording);
  engine.cancel();
  await run;
}

/** The wait has looked a few times since. */
async function polled(recording: RecordedRuns): Promise<void> {
  const before = recording.service.count("list");
  while (recording.service.count("list") < before + 6) await clock.sleep(100);
}
