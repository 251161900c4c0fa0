/** The scripted faults of one emulator: which of them a request meets. */
import type { TokenKind } from "../../provider/api/contract";
import { OptionError } from "../options";
import type { RandomSource } from "../random";
import {
  faultForm,
  isDelivery,
  type Behaviour,
  type FaultKind,
  type FaultScript,
  type Match,
} from "./kinds";

/** What a fault can look at. */
export interface Sighting {
  method: string;
  path: string;
  query: URLSearchParams;
  name: string | undefined;
  tokenKind: TokenKind | undefined;
}

/** A fault after it was scripted. */
export interface FaultHandle {
  readonly id: number;
  readonly kind: FaultKind;
  /** How many requests it has struck. */
  readonly hits: number;
  /** Resolves when it strikes for the first time. */
  readonly firstHit: Promise<void>;
  /** Takes it out of the script. What hangs goes on hanging. */
  remove(): void;
  /** Lets everything go on that hangs because of this fault, now and later. */
  release(): void;
}

export class ScriptedFault implements FaultHandle {
  hits = 0;
  private readonly first = Promise.withResolvers<void>();
  private readonly released = Promise.withResolvers<void>();
  private left: number;
  private toSkip: number;

  constructor(
    readonly id: number,
    readonly behaviour: Behaviour,
    private readonly match: Match,
    private readonly random: RandomSource,
    readonly remove: () => void,
  ) {
    this.left = match.times === "always" ? Infinity : match.times;
    this.toSkip = match.after;
  }

  get kind(): FaultKind {
    return this.behaviour.kind;
  }
  get firstHit(): Promise<void> {
    return this.first.promise;
  }
  /** Resolves on `release()`. */
  get whenReleased(): Promise<void> {
    return this.released.promise;
  }

  release(): void {
    this.released.resolve();
  }

  /** True when it strikes this request, which is counted then. */
  strikes(request: Sighting): boolean {
    if (this.left <= 0 || !matches(this.match, request)) return false;
    if (this.toSkip > 0) {
      this.toSkip--;
      return false;
    }
    if (this.match.probability < 1 && this.random() >= this.match.probability) return false;
    this.left--;
    this.hits++;
    this.first.resolve();
    return true;
  }
}

export class FaultList {
  private faults: ScriptedFault[] = [];
  private lastId = 0;

  constructor(private readonly random: RandomSource) {}

  /** Throws an OptionError for a script that makes no sense. */
  add(script: FaultScript): ScriptedFault {
    const parsed = faultForm.safeParse(script);
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      throw new OptionError(
        `fault: ${issue?.path.slice(1).join(".") ?? ""}: ${issue?.message ?? ""}`,
      );
    }
    const { behaviour, match } = parsed.data;
    const id = ++this.lastId;
    const remove = () => {
      this.faults = this.faults.filter((other) => other.id !== id);
    };
    const fault = new ScriptedFault(id, behaviour, match, this.random, remove);
    this.faults.push(fault);
    return fault;
  }

  get(id: number): ScriptedFault | undefined {
    return this.faults.find((fault) => fault.id === id);
  }

  all(): readonly ScriptedFault[] {
    return this.faults;
  }

  clear(): void {
    this.faults = [];
  }

  /** In the order they were scripted; of those that decide on the delivery, the first one only. */
  striking(request: Sighting): ScriptedFault[] {
    const striking: ScriptedFault[] = [];
    for (const fault of this.faults) {
      const decided =
        isDelivery(fault.behaviour) && striking.some((it) => isDelivery(it.behaviour));
      if (!decided && fault.strikes(request)) striking.push(fault);
    }
    return striking;
  }
}

function matches(match: Match, request: Sighting): boolean {
  return (
    (match.method === undefined || match.method === request.method) &&
    (match.path === undefined || like(match.path, request.path)) &&
    (match.name === undefined || (request.name !== undefined && like(match.name, request.name))) &&
    (match.tokenKind === undefined || match.tokenKind === request.tokenKind) &&
    Object.entries(match.query ?? {}).every(([key, value]) => request.query.get(key) === value)
  );
}

/** Whether a text is what a pattern with `*` says. */
export function like(pattern: string, text: string): boolean {
  const source = pattern.replaceAll(/[\\^$.+?()[\]{}|]/g, "\\$&").replaceAll("*", ".*");
  return new RegExp(`^${source}$`, "s").test(text);
}
