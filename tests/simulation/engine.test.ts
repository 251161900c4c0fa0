/**
 * Tests that the model (engine.ts) makes the calls of the real engine, which are recorded in
 * provider/testing/conversations. Of the calls about the provider resource, only Configure and Cancel are compared.
 */
import { expect, test } from "@jest/globals";
import { propertyMap, type PropertyMap } from "../../provider/pulumi/propertyValue";
import type { LoggedCall } from "../engine/support/recordedCalls/callLog";
import { conversationOf, readConversation } from "../engine/support/recordedCalls/conversation";
import { sessionsOf } from "../engine/support/recordedCalls/sessions";
import type { Engine, Program } from "./engine";
import { recorded } from "./recordCalls";
import { Simulation } from "./simulation";

const inputs = (more: Record<string, string> = {}): PropertyMap =>
  propertyMap({ flavorId: "standard-2", imageId: "debian-12", vpcId: "vpc-main", ...more });
const web: Program = { web: inputs() };
const changed: Program = { web: inputs({ flavorId: "standard-4" }) };

/** A simulation, and the calls of its engines. */
class RecordedRuns {
  readonly simulation;
  readonly log: LoggedCall[] = [];
  /** How many calls of the log have been compared. */
  #compared = 0;
  #processes = 0;

  constructor(
    readonly settings: Record<string, string> = {},
    provisioningSeconds = 0,
  ) {
    this.simulation = new Simulation({ provisioningSeconds });
  }

  engine(): Engine {
    return this.simulation.begin(this.settings, undefined, (calls) =>
      recorded(calls, ++this.#processes, this.log),
    ).engine;
  }

  async run(operation: (engine: Engine) => Promise<void>): Promise<void> {
    const { timeline } = this.simulation;
    // No run begins in the millisecond in which another one has ended: it would count as one beside it.
    await timeline.pass(1);
    await timeline.untilEnd(operation(this.engine()));
  }

  /** Begins an `up`, and lets time pass until its wait has fetched six more listings. */
  async beginUp(engine: Engine): Promise<{ up: Promise<void> }> {
    const up = engine.up(web);
    const before = this.simulation.servedListRequests;
    await this.simulation.until(() => this.simulation.servedListRequests >= before + 6);
    return { up };
  }

  /** Its calls are not compared. */
  async createWeb(): Promise<void> {
    await this.run((engine) => engine.up(web));
    this.#compared = this.log.length;
  }

  /**
   * Expects the calls since the last comparison to be those of the real engine with this command, or in its first
   * session.
   */
  expectCalls(command: string, firstOnly = false): void {
    const before = this.log.slice(0, this.#compared);
    const sessions = sessionsOf(conversationOf(this.log.slice(this.#compared), before));
    this.#compared = this.log.length;
    const modelled = (calls: string[]) => calls.filter((call) => !/^(Check|Diff)Config/.test(call));
    const recordedCalls = sessionsOf(readConversation(command).calls).map(modelled);
    // The model has no sessions in which the engine only compares the provider resource.
    const real = recordedCalls.filter((calls) => calls.some((call) => call !== "Cancel"));
    expect(sessions).toEqual(firstOnly ? real.slice(0, 1) : real);
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
  const { id } = recording.simulation.service.control.insert({ name: "web-main", tenant: "acme" });
  await recording.run((engine) => engine.import("web", id, { preview: true }));
  recording.expectCalls("import --preview-only");
  await recording.run((engine) => engine.import("web", id, { preview: true }));
  await recording.run((engine) => engine.import("web", id));
  recording.expectCalls("import");
  // The program that `pulumi import` prints has all that it read.
  const [imported] = recording.simulation.stack.resources;
  await recording.run((engine) => engine.up({ web: { ...imported?.inputs, ...inputs() } }));
  recording.expectCalls("up after an import");
});

test("a destroy that the provider refuses", async () => {
  const recording = new RecordedRuns({ deletePolicy: "fail" });
  await recording.createWeb();
  await recording.run((engine) => engine.destroy());
  recording.expectCalls("destroy, refused");
});

test("Ctrl-C during the wait, and the up that continues it", async () => {
  const recording = new RecordedRuns({}, Infinity);
  const cancelDuringWait = async () => {
    const engine = recording.engine();
    const { up } = await recording.beginUp(engine);
    engine.cancel();
    await recording.simulation.timeline.untilEnd(up);
  };
  await cancelDuringWait();
  recording.expectCalls("up, Ctrl-C during the wait");
  await cancelDuringWait();
  recording.expectCalls("up of an unfinished instance, Ctrl-C during the wait", true);
});

test("up of an engine that is killed during the wait", async () => {
  const recording = new RecordedRuns({}, Infinity);
  await recording.beginUp(recording.engine());
  recording.expectCalls("up, engine killed during the wait");
});
