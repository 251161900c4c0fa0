/**
 * Walks every history of a slice, breadth first, and finds the shortest one that breaks an invariant.
 * `tools/explore/model.ts` uses this file.
 */
import { hash } from "node:crypto";
import { changes } from "./engine";
import { check, Violation } from "./invariants";
import { modelOf, type Exception, type Model, type Rules, type Slice } from "./slice";
import { copyOf, keyOf, type Change, type World } from "./world";

/** The result of an exploration. */
export interface Explored {
  states: number;
  /** How many levels of the breadth-first walk were explored. */
  depth: number;
  seconds: number;
  violation?: Broken;
  /** How often the promise does not hold, by the reason, with the shortest history of each. */
  exceptions: Map<Exception, { count: number; choices: number[] }>;
}

/** A broken invariant, and the history that breaks it. */
interface Broken {
  what: string;
  /** The history as the index of each chosen step, for `--trace`. */
  choices: number[];
}

/** The world before the first run. */
export function firstWorld({ slice }: Model): World {
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

/** Explores the states of a slice, up to the first violation. */
export function explore(slice: Slice, rules: Rules): Explored {
  const met = new Set<Exception>();
  const exceptions: Explored["exceptions"] = new Map();
  const model = modelOf(slice, rules, (reason) => met.add(reason));
  const begun = performance.now();
  const first = firstWorld(model);
  const seen = new Set([hashOf(first)]);
  /** For each state, the index of the state before it, and the choice that led from there. */
  const steps = [{ from: -1, choice: -1 }];
  let level = [{ world: first, index: 0 }];
  let depth = 0;
  const result = (violation?: Broken): Explored => ({
    states: seen.size,
    depth,
    seconds: (performance.now() - begun) / 1000,
    exceptions,
    ...(violation && { violation }),
  });
  const historyOf = (index: number): number[] => {
    const step = steps[index];
    return index > 0 && step ? [...historyOf(step.from), step.choice] : [];
  };
  for (; level.length > 0; depth++) {
    const next: typeof level = [];
    for (const { world, index } of level) {
      for (const [choice, change] of changes(model, world).entries()) {
        const copy = copyOf(world);
        met.clear();
        try {
          apply(model, copy, change);
        } catch (error) {
          const { message, stack } = error as Error;
          const what =
            error instanceof Violation ? message : `the protocol or the model throws: ${stack}`;
          return result({ what, choices: [...historyOf(index), choice] });
        }
        for (const reason of met) {
          const known = exceptions.get(reason);
          if (known) known.count++;
          else exceptions.set(reason, { count: 1, choices: [...historyOf(index), choice] });
        }
        const hashed = hashOf(copy);
        if (seen.has(hashed)) continue;
        seen.add(hashed);
        next.push({ world: copy, index: steps.push({ from: index, choice }) - 1 });
      }
    }
    level = next;
  }
  return result();
}

function hashOf(world: World): string {
  return hash("md5", keyOf(world), "base64url");
}

/** Carries out one step, and checks the invariants. @throws Violation if one is broken */
function apply(model: Model, world: World, change: Change<World>): void {
  if (change.fault !== undefined) world.faults--;
  change.do(world);
  check(model, world);
}

/** Describes a history in words, with one line for each step. */
export function tell(slice: Slice, rules: Rules, history: readonly number[]): string[] {
  const model = modelOf(slice, rules);
  const world = firstWorld(model);
  const lines: string[] = [];
  for (const choice of history) {
    const change = changes(model, world)[choice];
    if (!change) return [...lines, `(there is no choice ${choice})`];
    lines.push(change.say);
    try {
      apply(model, world, change);
    } catch (error) {
      return [...lines, `→ ${(error as Error).message}`];
    }
  }
  return lines;
}
