/**
 * Chosen faults, each in a life cycle of its own with the real engine, and after each the next clean
 * `up`: nothing lost, nothing twice, nothing wrongly forgotten (G1, G2, G3). Prints the figures.
 */
import { afterAll, expect, test } from "@jest/globals";
import { startEmulator } from "../../emulator";
import { reportFigures } from "../support/figures";
import { printedCommands } from "../support/printed";
import { Audit, figures, type Findings } from "./support/audit";
import { faultCases, type FaultCase } from "./support/faultCases";
import { oneInstance } from "./support/programs";
import type { Outcome } from "./support/running";
import { plugin } from "./support/stack";
import { World } from "./support/world";

const destroyPath = "/v2/instances/{id}";
const program = oneInstance({}, { customTimeouts: { create: "6s", update: "20s", delete: "6s" } });
const nothing: Findings = { lost: [], doubled: [], forgotten: [] };

const found: Findings[][] = [];

test.concurrent.each(faultCases)("$title", async (it) => {
  const { looks, ...rest } = await live(it);
  found.push(looks);
  for (const look of looks) expect(look).toEqual(nothing);
  const { cleanUp, living, held, elsewhere, struck } = rest;
  expect(cleanUp).toMatchObject({ code: 0 });
  // Where one instance is wanted, the program's own is the only one left.
  expect(held).toHaveLength(1);
  expect(living).toEqual(held);
  expect(elsewhere).toEqual({});
  expect(struck).toBe(true);
});

afterAll(() => {
  const { cases, lost, doubled, forgotten } = figures(found);
  const wrong = { lost, doubled, "wrongly forgotten": forgotten };
  reportFigures("faults with the real engine", { cases, ...wrong });
});

/** What was found after the fault and after the next clean `up`, and how that ended. */
async function live({ command, fault, end, config, whileWaiting }: FaultCase) {
  let provisioningSeconds = whileWaiting ? Infinity : 1;
  await using world = await World.create({
    program,
    service: { provisioningSeconds: () => provisioningSeconds, destroyPath },
    config: { destroyPath, ...config },
  });
  await using elsewhere = await startEmulator();
  const { stack, service } = world;
  const audit = new Audit(world, 1);
  if (command !== "up") {
    audit.hears(await stack.succeed("up", "--yes", "--skip-preview"));
    await audit.look();
  }

  if (fault === "refused") await service.refuseConnections();
  const location = `${elsewhere.url}/instances`;
  const scripted =
    typeof fault === "object"
      ? service.control.fault(fault.kind === "redirect" ? { ...fault, location } : fault)
      : undefined;
  const run = stack.start(command, "--yes", "--skip-preview");
  if (fault === "refused later") {
    await run.printed("PROVISIONING");
    await service.refuseConnections();
  }
  if (whileWaiting && scripted) await run.reached(scripted.firstHit);
  const settle = () => {
    provisioningSeconds = 1;
    if (whileWaiting) service.control.settle();
  };
  if (end === "goes on" || !scripted) {
    settle();
    audit.hears((await run.ended).output);
  } else {
    await run.reached(scripted.firstHit);
    audit.hears((await run.end(end, () => scripted.release())).output);
    settle();
  }
  // Of a run that could not save its state, this is what tells.
  const saved = end === "goes on" || end === "Ctrl-C";
  const noted = saved ? "" : (await stack.type(`'${plugin}' discard`)).output;
  const afterFault = await audit.look(noted);

  if (typeof fault === "string") await service.acceptConnections();
  service.control.clearFaults();
  const cleanUp = await upAsSaid(world);
  audit.hears(cleanUp.output);
  const afterwards = await audit.look();
  return {
    looks: [afterFault, afterwards],
    cleanUp,
    living: world.ids(),
    held: audit.held,
    elsewhere: elsewhere.counts(),
    struck: scripted === undefined || scripted.hits > 0,
  };
}

/** After a second Ctrl-C the engine drops answers that it has: what they told of is for a person to import. */
async function upAsSaid({ stack }: World): Promise<Outcome> {
  const up = await stack.upAfterKill();
  const isDropped = up.output.includes("and whether a state holds it is not known");
  const [command = ""] = isDropped ? printedCommands(up.output, "pulumi import") : [];
  if (command === "") return up;
  const imported = await stack.type(command);
  const { code, output } = await stack.up();
  return { code, output: up.output + imported.output + output };
}
