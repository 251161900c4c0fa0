/** A slice: the runs, faults and acts of one exploration, small enough that every history can be explored. */
import { logicalName } from "../../provider/pulumi/urn";
import { tagOf } from "../../provider/instance/naming";
import type * as Runs from "../../provider/engine";
import type * as Deletes from "../../provider/instance/delete";
import type * as Records from "../../provider/ledger/record";
import type * as Protocol from "../../provider/create/protocol";
import type { CreateSpec } from "../../provider/create/protocol";

/** The settling time. It is longer than the maximum age of a baseline. */
export const settlingMs = 60_000;

/** What may go wrong. Each occurrence uses up one of the slice's `maxFaults`. */
export type Fault =
  /** Ends of a POST. After "notSent" it may be sent later, after "unsendable" never. */
  | "500"
  | "cut"
  | "refused"
  | "429"
  | "notSent"
  | "unsendable"
  /** A POST gets no answer, and the service carries it out later. */
  | "overdue"
  /** A POST gets a 500, but creates an instance, which is listed with a name that nobody asked for. */
  | "renamed"
  /** The 202 names an instance that existed before, and the service has created one or not. */
  | "wrong id"
  /** A listing that is not complete, gets a 500, or gets a 400. */
  | "partial"
  | "listFails"
  | "listRefused"
  /**
   * Once in a history, a complete listing lacks an instance that exists and is long settled. A baseline never does: no
   * create can tell such a baseline from a true one.
   */
  | "lapse"
  /** The same, and the listings lack all instances until the settling time passes. */
  | "lists nothing"
  /** The accepted instance does not get ready. */
  | "unfinished"
  /** The operation's time-out. */
  | "timeout"
  /** The state backend fails: a reply is not saved, and the engine still ends normally. */
  | "not saved"
  | "ctrl-C"
  | "ctrl-C twice"
  | "plugin killed"
  | "engine killed"
  | "runner killed"
  /** Attach mode: the next engine connects while calls of the last engine are still under way. */
  | "attached anew";

/**
 * What people do between runs and, in a slice with a stranger, also during runs. Each act happens at most once. "settle" is what
 * a person, or a command, does about a stop. "twin" gives the state a second entry of an instance.
 */
export type Act = "import" | "portal" | "state delete" | "settle" | "twin" | "wipe" | "stranger";

/** A resource of a program. */
export interface Resource {
  /** Which resource a person means, even if its URN changes. */
  resource: string;
  urn: string;
  kind: Protocol.NameKind;
  /** The explicit name. Undefined if the name is generated or proposed. */
  name?: string;
  secret?: boolean;
  /** Stands for the inputs. */
  digest?: string;
}

/** A run as planned: where it runs, its settings, and its program. */
export interface Plan {
  /** The machine, which has a ledger of its own. */
  machine?: number;
  /** The stack, which has a state and, unless `scope` is set, a provider resource of its own. */
  stack?: number;
  /** The name of the provider resource, which has a process of its own, and the id of another one. */
  provider?: string;
  /** The id of the provider resource, if it is not the usual one of the stack. */
  scope?: string;
  /** Whether it is `pulumi do … --stateless`, which saves no state. */
  stateless?: boolean;
  /** Stands for the API token and its tenant (`tenantOf`). */
  token?: string;
  account?: string;
  /** The address of the service. */
  address?: string;
  replace?: boolean;
  /** Whether it begins only when no other engine is running. */
  alone?: boolean;
  program: Resource[];
  leftovers?: "warn" | "fail";
  /** With a typed `COMPUTE_DELETE_POLICY=retain` over the policy "fail". */
  guardsLeftovers?: boolean;
  /** What Delete does: it destroys the instance, leaves it running, or fails. */
  deletePolicy?: "destroy" | "retain" | "fail";
}

/** How much is walked: by `npm test`, by `npm test -- --all`, or by a person who has the time. */
export type Depth = "shallow" | "usual" | "deep";

/** The limits of one exploration. */
export interface Slice {
  name: string;
  what: string;
  /** The runs, in their order, each with its variants. */
  runs: Plan[][];
  /** Set if a run may begin while another is under way. */
  together?: boolean;
  machines?: number;
  stacks?: number;
  faults: Fault[];
  maxFaults: number;
  acts?: Act[];
  /** How often error hooks may make the engine repeat creates in one run. Default: 0. */
  hooks?: number;
  /** Set if files can't be locked, so that it is not known whether another session lives. */
  unlockable?: boolean;
  /** Set if the ledger can't be written. */
  noDisk?: boolean;
  /** Set if the settling time may pass while a POST is under way. */
  slowPosts?: boolean;
  /** The shallowest walk that has this slice. Default: all have it. */
  from?: Depth;
}

/** The rules that are explored: the real ones, or without one of them (`mutation.ts`). */
export type Rules = Pick<typeof Protocol, "begin" | "step"> &
  Pick<
    typeof Records,
    "mayTakeOver" | "endsInOrder" | "endsDoubt" | "isNamedAtEnd" | "isIdle" | "fileNameOf"
  > &
  Pick<typeof Runs, "Engine"> &
  Pick<typeof Deletes, "decideDelete">;

/** A resource in the program of a run. In the key of a world, its index stands for it. */
export interface Planned extends Resource {
  digest: string;
  /** Which resource of which stack a person means. Each stateless create is a resource of its own. */
  identity: string;
  /** What the protocol gets for its create. */
  spec: CreateSpec;
  toJSON: () => number;
}

/** A plan, completed. In the key of a world, the index of its variant stands for it. */
export interface PlannedRun extends Plan {
  machine: number;
  stack: number;
  provider: string;
  scope: string;
  program: Planned[];
  toJSON: () => number;
}

/** A slice with the rules to explore. */
export interface Model {
  slice: Slice;
  rules: Rules;
  /** As in the slice. */
  runs: PlannedRun[][];
  /** Notes why the promise does not hold in a history. */
  except: (reason: Exception) => void;
}

/** Why a promise does not hold. docs/recover.md names what a person may meet of this. */
export type Exception =
  | "a name of pulumi:autonaming, and no file here"
  | "made less than the settling time before, and no file here"
  | "renamed while in doubt"
  | "another provider resource"
  | "another tenant's token"
  | "renamed by the service"
  | "carried out by the service after it was proven absent"
  | "an explicit name whose Delete fails, with --replace"
  | "imported by hand, and replaced by the next run"
  | "replaced without a Diff while no listing showed it, and renamed before its Delete"
  | "a listing that is not complete"
  | "stateless";

/** Prepares the exploration of a slice. */
export function modelOf(
  slice: Slice,
  rules: Rules,
  except: Model["except"] = () => undefined,
): Model {
  const runs = slice.runs.map((plans, run) =>
    plans.map((plan, variant) => plannedRun(plan, run + 1, variant)),
  );
  return { slice, rules, runs, except };
}

function plannedRun(plan: Plan, run: number, variant: number): PlannedRun {
  const { machine = 0, stack = 0 } = plan;
  const { provider = "provider" } = plan;
  const { scope = `${provider}-of-stack-${stack}` } = plan;
  const program = plan.program.map((resource, index): Planned => ({
    ...resource,
    digest: resource.digest ?? "as asked",
    identity: `${resource.resource} of ${plan.stateless ? `s${run}` : `stack ${stack}`}`,
    spec: specOf({ ...plan, scope }, run, resource),
    toJSON: () => index,
  }));
  return { ...plan, machine, stack, provider, scope, program, toJSON: () => variant };
}

function specOf(plan: Plan & { scope: string }, run: number, resource: Resource): CreateSpec {
  const { urn, kind, name: given, secret, digest = "as asked" } = resource;
  const { stateless = false, token = "one", account, address = "https://service" } = plan;
  const { scope } = plan;
  const tag = tagOf(urn, scope);
  // A generated name ends in random letters. Here, the letters depend on the session only.
  const random = `aaa${"abcdefghij"[run]}`;
  const name =
    given ?? (kind === "generated" ? `${logicalName(urn)}-${tag}${random}` : `proposed-s${run}`);
  return {
    identity: {
      session: `s${run}`,
      baseUrl: address,
      tokenKind: "live",
      // Each service has tenants of its own.
      tokenHash: plan.address === undefined ? token : `${token} at ${address}`,
      account,
      urn,
      scope: stateless ? undefined : scope,
      name: secret ? undefined : name,
      kind,
      // The digest is keyed with the token, and has the name if the program chose it.
      digest: [digest, given, token.includes("#") ? "another key" : ""].filter(Boolean).join(", "),
    },
    name,
    flavor: "one",
    addressName: "compute:baseUrl",
    leftovers: plan.leftovers,
    guardsLeftovers: plan.guardsLeftovers,
    replaces: undefined,
    known: new Set(),
    letsRun: plan.leftovers === "warn",
    deleteFails: plan.deletePolicy === "fail",
    settlingMs,
    pollIntervalMs: 0,
    noneOfOursMs: settlingMs,
    patienceMs: settlingMs,
  };
}
