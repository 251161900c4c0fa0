/**
 * Walks every history of a slice, breadth first, and finds the shortest one that breaks an invariant.
 * `tools/explore.ts` uses this file.
 */
import { hash } from "node:crypto";
import { changes } from "./engine";
import { check, Violation } from "./invariants";
import { Model, type Rules, type Slice } from "./slice";
import { copyOf, keyOf, type World } from "./world";

/** The result of an exploration. */
export interface Explored {
  states: number;
  /** How many levels of the breadth-first walk were explored. */
  depth: number;
  seconds: number;
  violation?: Broken;
}

/** A broken invariant, and the history that breaks it. */
interface Broken {
  what: string;
  /** The history as the index of each chosen step, for `--trace`. */
  choices: number[];
}

function firstWorld(slice: Slice): World {
  return {
    instances: [],
    ledgers: Array.from({ length: slice.machines ?? 1 }, () => []),
    stacks: Array.from({ length: slice.stacks ?? 1 }, () => []),
    runs: [],
    begun: 0,
    faults: slice.maxFaults,
    acts: [...(slice.acts ?? [])],
  };
}

/** Explores the states of a slice, up to the first violation or to `maxStates` states. */
export function explore(slice: Slice, rules: Rules, maxStates = Infinity): Explored {
  const model = new Model(slice, rules);
  const begun = performance.now();
  const seen = new Set<string>();
  const parents: number[] = [-1];
  const choices: number[] = [-1];
  let level: { world: World; index: number }[] = [{ world: firstWorld(slice), index: 0 }];
  seen.add(hash("md5", keyOf(firstWorld(slice)), "base64url"));
  let depth = 0;
  const result = (violation?: Broken): Explored => ({
    states: seen.size,
    depth,
    seconds: (performance.now() - begun) / 1000,
    ...(violation && { violation }),
  });
  for (; level.length > 0; depth++) {
    const next: typeof level = [];
    for (const { world, index } of level) {
      const all = changes(model, world);
      for (let choice = 0; choice < all.length; choice++) {
        const copy = copyOf(world);
        try {
          apply(model, copy, all[choice]);
        } catch (error) {
          const history = [...historyOf(index, parents, choices), choice];
          if (error instanceof Violation) return result({ what: error.message, choices: history });
          const what = `the protocol or the model throws: ${(error as Error).stack}`;
          return result({ what, choices: history });
        }
        const key = hash("md5", keyOf(copy), "base64url");
        if (seen.has(key)) continue;
        seen.add(key);
        next.push({ world: copy, index: parents.push(index) - 1 });
        choices.push(choice);
        if (seen.size >= maxStates) return result();
      }
    }
    level = next;
  }
  return result();
}

/** Carries out one step, and checks the invariants. @throws Violation if one is broken */
function apply(
  model: Model,
  world: World,
  change: ReturnType<typeof changes>[number] | undefined,
): void {
  if (!change) throw new Error("there is no such choice");
  if (change.fault !== undefined) world.faults--;
  change.do(world);
  check(model, world);
}

/** Returns the choices that lead from the first world to the one with this index. */
function historyOf(index: number, parents: number[], choices: number[]): number[] {
  const history: number[] = [];
  for (let at = index; at > 0; at = parents[at] ?? 0) history.unshift(choices[at] ?? 0);
  return history;
}

/** Describes a history in words, with one line for each step. */
export function tell(slice: Slice, rules: Rules, history: readonly number[]): string[] {
  const model = new Model(slice, rules);
  let world = firstWorld(slice);
  const lines: string[] = [];
  for (const choice of history) {
    const change = changes(model, world)[choice];
    lines.push(change?.say ?? `(there is no choice ${choice})`);
    const copy = copyOf(world);
    try {
      apply(model, copy, change);
    } catch (error) {
      lines.push(`→ ${(error as Error).message}`);
      return lines;
    }
    world = copy;
  }
  return lines;
}
