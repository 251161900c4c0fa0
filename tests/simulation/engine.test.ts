/**
 * Tests that the model of the engine (engine.ts) makes the calls of the real engine, which are recorded in
 * tests/engine/recordedCalls.json. Of the calls about the provider resource, only Configure and Cancel are
 * compared. Time and disk are virtual, so that no result depends on how busy the machine is.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { expect, test } from "@jest/globals";
import { Secret, propertyMap, type PropertyMap } from "../../provider/propertyValue";
import { createProvider } from "../../provider/provider";
import { FakeService, ready } from "../../provider/testing/fakeService";
import { VirtualClock } from "../../provider/testing/virtualClock";
import { Redactor } from "../../provider/redaction";
import type { LogLine } from "../engine/support/recordedCalls/callLog";
import { callsOf, sessionsOf } from "../engine/support/recordedCalls/sessions";
import realCalls from "../engine/recordedCalls.json";
import { MemoryDisk } from "./disk";
import { Engine, Stack, type Program } from "./engine";
import { home } from "./machine";
import { recorded } from "./recordCalls";

const inputs = (more: Record<string, string> = {}): PropertyMap =>
  propertyMap({ flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main", ...more });
const web: Program = { web: inputs() };
const changed: Program = { web: inputs({ flavorId: "standard-4" }) };

/** A stack, and the log of every call that its engines make. */
class RecordedRuns {
  readonly #settings: Record<string, string>;
  readonly service = new FakeService();
  readonly log: LogLine[] = [];
  readonly #stack = new Stack("dev");
  readonly #clock = new VirtualClock();
  readonly #disk = new MemoryDisk(this.#clock);
  /** How many lines of the log have been compared. */
  #compared = 0;
  #processes = 0;

  constructor(settings: Record<string, string> = {}) {
    this.#settings = settings;
  }

  /** Returns a new engine, with a new process of the plugin. */
  engine(): Engine {
    const ignore = () => undefined;
    const clock = this.#clock;
    const disk = this.#disk.processDisk({
      step: ignore,
      later: (run) => void clock.sleep(1).then(run),
    });
    const provider = createProvider({
      messages: { status: ignore, info: ignore, warning: ignore, debug: ignore },
      ...{ redactor: new Redactor(), clock, disk, env: { PULUMI_HOME: home } },
      createApi: () => this.service,
    });
    const args = propertyMap({
      ...{ baseUrl: "https://compute.example/v2", apiToken: new Secret("sk_test_acme_1234567") },
      ...this.#settings,
    });
    this.service.posts.push(...Array.from({ length: 3 }, () => ready));
    return new Engine(this.#stack, recorded(provider, ++this.#processes, this.log), args, {
      pause: () => clock.sleep(1),
      saves: () => true,
      randomSeed: () => randomBytes(32),
      newScope: randomUUID,
    });
  }

  /** Runs an operation of a new engine to its end. */
  async run(operation: (engine: Engine) => Promise<void>): Promise<void> {
    await this.runUntilEnd(operation(this.engine()));
  }

  /** Lets virtual time pass until the operation has ended. */
  async runUntilEnd(operation: Promise<void>): Promise<void> {
    let isOver = false;
    const onEnd = () => void (isOver = true);
    operation.then(onEnd, onEnd);
    while (!isOver) await this.#clock.advance(100);
    return operation;
  }

  /** Lets virtual time pass until the wait has fetched six more listings. */
  async waitForListings(): Promise<void> {
    const before = this.service.count("list");
    while (this.service.count("list") < before + 6) await this.#clock.advance(100);
  }

  /** Creates one instance. Its calls are not compared. */
  async createWeb(): Promise<void> {
    await this.run((engine) => engine.up(web));
    this.#compared = this.log.length;
  }

  /**
   * Expects the calls since the last comparison to be those of the real engine in this operation. With `firstOnly`,
   * only those of its first session.
   */
  expectCalls(operation: keyof typeof realCalls.operations, firstOnly = false): void {
    const before = this.log.slice(0, this.#compared);
    const sessions = sessionsOf(this.log.slice(this.#compared), before);
    this.#compared = this.log.length;
    const modelled = (calls: string[]) => calls.filter((it) => !/^(Check|Diff)Config/.test(it));
    const recordedCalls = callsOf(realCalls.operations[operation]).map(modelled);
    // The model has no sessions in which the engine only compares the provider resource.
    const real = recordedCalls.filter((calls) => calls.some((it) => it !== "Cancel"));
    expect(callsOf(sessions)).toEqual(firstOnly ? real.slice(0, 1) : real);
  }
}

test("up, up again, preview, refresh and destroy of an instance", async () => {
  const recording = new RecordedRuns();
  await recording.run((engine) => engine.up(web, { preview: true }));
  await recording.run((engine) => engine.up(web));
  recording.expectCalls("up, with its preview");
  await recording.run((engine) => engine.up(web));
  recording.expectCalls("up without changes");
  await recording.run((engine) => engine.up(web, { preview: true }));
  recording.expectCalls("preview without changes");
  await recording.run((engine) => engine.refresh());
  recording.expectCalls("refresh");
  await recording.run((engine) => engine.destroy());
  recording.expectCalls("destroy");
});

test("replacements because of a changed input and `--replace`", async () => {
  const recording = new RecordedRuns();
  await recording.createWeb();
  await recording.run((engine) => engine.up(changed, { preview: true }));
  recording.expectCalls("preview of a changed input");
  await recording.run((engine) => engine.up(changed));
  recording.expectCalls("up of a changed input");
  await recording.run((engine) => engine.up(changed, { replace: ["web"] }));
  recording.expectCalls("up --replace");
});

test("up of an existing, a new and a removed resource", async () => {
  const recording = new RecordedRuns();
  await recording.run((engine) => engine.up({ a: inputs(), b: inputs() }));
  recording.expectCalls("up of two new resources");
  await recording.run((engine) => engine.up({ a: inputs(), c: inputs() }));
  recording.expectCalls("up of an existing, a new and a removed resource");
});

test("`pulumi import`, previewed and executed", async () => {
  const recording = new RecordedRuns();
  const { id } = recording.service.has("i-there", { name: "web-main" });
  await recording.run((engine) => engine.import("web", id, { preview: true }));
  recording.expectCalls("import --preview-only");
  await recording.run((engine) => engine.import("web", id, { preview: true }));
  await recording.run((engine) => engine.import("web", id));
  recording.expectCalls("import");
  await recording.run((engine) => engine.up({ web: inputs({ name: "web-main" }) }));
  recording.expectCalls("up after an import");
});

test("a destroy that the provider refuses", async () => {
  const recording = new RecordedRuns({ deletePolicy: "fail" });
  await recording.createWeb();
  await recording.run((engine) => engine.destroy());
  recording.expectCalls("destroy, refused");
});

test("Ctrl-C during the wait, and the up that continues it", async () => {
  const recording = new RecordedRuns();
  const first = recording.engine();
  // The POST is accepted, and its instance stays PROVISIONING.
  recording.service.posts.length = 0;
  await cancelDuringWait(recording, first);
  recording.expectCalls("up, Ctrl-C during the wait");
  await cancelDuringWait(recording, recording.engine());
  recording.expectCalls("up of an unfinished instance, Ctrl-C during the wait", true);
});

test("up of an engine that is killed during the wait", async () => {
  const recording = new RecordedRuns();
  const killed = recording.engine();
  recording.service.posts.length = 0;
  void killed.up(web);
  await recording.waitForListings();
  recording.expectCalls("up, engine killed during the wait");
});

/** Begins an `up`, and presses Ctrl-C once it waits for the instance. */
async function cancelDuringWait(recording: RecordedRuns, engine: Engine): Promise<void> {
  const up = engine.up(web);
  await recording.waitForListings();
  engine.cancel();
  await recording.runUntilEnd(up);
}
