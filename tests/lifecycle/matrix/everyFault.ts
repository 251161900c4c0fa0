/** Every fault at one request of a life, with every end of the run it strikes. */
import { expect } from "@jest/globals";
import { reportFigures } from "../../support/figures";
import { endNames } from "./ends";
import { faults } from "./faults";
import { play, type Case, type Outcome } from "./play";
import type { SpotName } from "./spots";

/** More only makes two busy cores slow; these spend their time waiting. */
const atOnce = 24;

export async function everyFault(name: SpotName): Promise<void> {
  const cases = Object.entries(faults).flatMap(([fault, { provesGone }]) => {
    const brief = endNames.map((end) => ({ spot: name, fault, end, lasting: false }));
    if (provesGone && name === "the list of a refresh") return brief;
    return [...brief, { spot: name, fault, end: "the engine goes on" as const, lasting: true }];
  });
  const outcomes = await inParallel(cases);
  const count = (key: "lost" | "doubled" | "forgotten" | "stuck") =>
    outcomes.reduce((sum, outcome) => sum + outcome[key].length, 0);
  reportFigures(`every fault at ${name}`, {
    cases: cases.length,
    lost: count("lost"),
    doubled: count("doubled"),
    "wrongly forgotten": count("forgotten"),
    "taken over by hand": outcomes.reduce((sum, { byHand }) => sum + byHand, 0),
  });
  expect(outcomes.flatMap(complaints)).toEqual([]);
}

type Played = Outcome & Case;

function complaints({ fault, end, lasting, struck, ...wrong }: Played): string[] {
  const { lost, doubled, forgotten, stuck } = wrong;
  const found = Object.entries({ lost, doubled, forgotten, stuck })
    .filter(([, what]) => what.length > 0)
    .map(([kind, what]) => `${kind}: ${what.join(", ")}`);
  if (!struck) found.push("the fault met no request");
  const which = `${fault}${lasting ? ", lasting" : ""}; ${end}`;
  return found.map((what) => `${which}: ${what}`);
}

async function inParallel(cases: readonly Case[]): Promise<Played[]> {
  const outcomes: Played[] = [];
  const left = cases.values();
  const worker = async () => {
    for (const it of left) outcomes.push({ ...it, ...(await playOne(it)) });
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  // On a machine that is busy with other things, a run can give up before it comes to its fault.
  for (const [n, it] of outcomes.entries()) {
    const nothingElse = complaints({ ...it, struck: true }).length === 0;
    if (!it.struck && nothingElse) outcomes[n] = { ...it, ...(await playAlone(it)) };
  }
  return outcomes;
}

async function playAlone(it: Case): Promise<Outcome> {
  for (const slowness of [2, 4, 8]) {
    const outcome = await playOne(it, slowness);
    if (outcome.struck) return outcome;
  }
  return playOne(it, 16);
}

async function playOne(it: Case, slowness = 1): Promise<Outcome> {
  try {
    return await play(it, slowness);
  } catch (error) {
    const stuck = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
    return { struck: true, lost: [], doubled: [], forgotten: [], stuck, byHand: 0 };
  }
}
