/** A slice: a small part of the world that is explored whole. */
import { tagOf } from "../../provider/instance/naming";
import type * as Protocol from "../../provider/instance/protocol";
import type { CreateSpec } from "../../provider/instance/protocol";
import { settlingMs, type Call, type Run, type World } from "./world";

/** What may go wrong; each costs one of the slice's faults. */
export type Fault =
  /** Answers to the POST: 500, no whole one, a refusal, 429; not one byte left; nothing will ever leave. */
  | "500"
  | "cut"
  | "refused"
  | "429"
  | "notSent"
  | "unsendable"
  /** The POST without an answer is carried out after the settling time, before its run ends. */
  | "overdue"
  /** Listed under a name that nobody asked for, with a 500. */
  | "renamed"
  /** A listing that is not complete; one that fails, for now or for good. */
  | "partial"
  | "listFails"
  | "listRefused"
  /** The accepted instance does not get ready. */
  | "unfinished"
  /** The operation's time-out. */
  | "timeout"
  /** The backend fails: a reply is not saved, and the engine ends in good order all the same. */
  | "not saved"
  | "ctrl-C"
  | "ctrl-C twice"
  | "plugin killed"
  | "engine killed"
  | "runner killed"
  /** Attach mode: the next engine comes while calls of the last still go on. */
  | "attached anew";

/** What people do between runs, each at most once. */
export type Act = "import" | "portal" | "state delete" | "discard" | "wipe" | "stranger";

export interface Resource {
  /** What a person means by it, whatever its URN. */
  resource: string;
  urn: string;
  kind: Protocol.NameKind;
  /** An explicit or a secret name. */
  name?: string;
  secret?: boolean;
  digest?: string;
}

export interface Plan {
  machine?: number;
  /** Index of the stack; each has a state and a scope of its own. */
  stack?: number;
  /** The provider's own id, if it is not the stack's. */
  scope?: string;
  stateless?: boolean;
  token?: string;
  account?: string;
  address?: string;
  replace?: boolean;
  program: Resource[];
  leftovers?: "warn" | "fail";
  deletePolicy?: "destroy" | "retain" | "fail";
}

export interface Slice {
  name: string;
  /** What it holds, for people. */
  what: string;
  /** Run after run; each with its variants. */
  runs: Plan[][];
  /** A run may begin while another is under way. */
  together?: boolean;
  machines?: number;
  stacks?: number;
  faults: Fault[];
  mostFaults: number;
  acts?: Act[];
  /** How often an error hook asks again. */
  hooks?: number;
  /** Whether a session lives can't be told. */
  unlockable?: boolean;
  /** The ledger can't be written. */
  noDisk?: boolean;
  /** The settling time may pass while a POST is under way. */
  slowPosts?: boolean;
  /** Left to `--deep`. */
  deep?: boolean;
}

/** The protocol that is explored: the real one, or a mutant of it. */
export type Rules = Pick<typeof Protocol, "begin" | "step" | "findNewInstances">;

/** A slice under one set of rules. */
export class Model {
  readonly #specs = new Map<string, CreateSpec>();

  constructor(
    readonly slice: Slice,
    readonly rules: Rules,
  ) {}

  plan({ plan: [run, variant] }: Pick<Run, "plan">): Plan {
    const plan = this.slice.runs[run]?.[variant];
    if (!plan) throw new Error("no such run");
    return plan;
  }

  scope(plan: Plan): string {
    return plan.scope ?? `provider-of-stack-${plan.stack ?? 0}`;
  }

  resource(run: Pick<Run, "plan">, index: number): Resource {
    const resource = this.plan(run).program[index];
    if (!resource) throw new Error("no such resource");
    return resource;
  }

  /** Its identity: that of a stateless create is nobody else's. */
  identity(run: Pick<Run, "plan" | "session">, index: number): string {
    const plan = this.plan(run);
    const { resource } = this.resource(run, index);
    return plan.stateless
      ? `${resource} of ${run.session}`
      : `${resource} of stack ${plan.stack ?? 0}`;
  }

  spec(run: Run, index: number): CreateSpec {
    const key = `${run.plan.join()}/${run.session}/${index}`;
    let spec = this.#specs.get(key);
    if (!spec) this.#specs.set(key, (spec = this.#specOf(run, index)));
    return spec;
  }

  #specOf(run: Run, index: number): CreateSpec {
    const plan = this.plan(run);
    const { urn, kind, name: given, secret, digest = "as asked" } = this.resource(run, index);
    const scope = this.scope(plan);
    const { stateless = false, token = "one", account, address = "https://service" } = plan;
    const tag = tagOf(urn, scope);
    const random = `aaa${run.session
      .replace(/\D/g, "")
      .slice(-1)
      .replace(/./, (d) => "abcdefghij"[Number(d)] ?? "a")}`;
    const name =
      given ?? (kind === "generated" ? `web-${tag}${random}` : `proposed-${run.session}`);
    return {
      urn,
      scope,
      stateless,
      origin: {
        baseUrl: address,
        tokenKind: "live",
        tokenHash: token,
        ...(account && { account }),
      },
      name,
      nameKind: kind,
      recordedName: secret ? `secret:${name}` : name,
      tag: stateless ? undefined : tag,
      digest,
      leftovers: plan.leftovers ?? "warn",
      deleteFails: plan.deletePolicy === "fail",
      settlingMs,
      pollIntervalMs: settlingMs,
      patienceMs: settlingMs,
    };
  }
}

/** One world, with the run and the call that something happens to. */
export interface Scene {
  m: Model;
  w: World;
  run: Run;
  call: Call;
}
