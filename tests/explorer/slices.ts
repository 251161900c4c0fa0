/** The slices of the exploration. Each has the runs, faults and acts whose every history is walked. */
import type { Depth, Fault, Plan, Resource, Slice } from "./slice";

const urn = (name: string, stack = "dev") =>
  `urn:pulumi:${stack}::shop::compute:index:Instance::${name}`;

const generated: Resource = { resource: "web", urn: urn("web"), kind: "generated" };
const explicit: Resource = { resource: "web", urn: urn("web"), kind: "explicit", name: "Web" };
const proposed: Resource = { resource: "web", urn: urn("web"), kind: "proposed" };

/** A run whose program has only this resource. */
const up = (resource: Resource, more: Partial<Plan> = {}): Plan => ({
  program: [resource],
  ...more,
});

const postFaults: Fault[] = ["500", "cut", "refused", "429", "notSent"];
const interruptions: Fault[] = [
  "ctrl-C",
  "ctrl-C twice",
  "plugin killed",
  "engine killed",
  "runner killed",
];
const listFaults: Fault[] = ["partial", "listFails"];

/** The same resource under another name in the program. */
const renamed = (resource: Resource, name: string): Resource => ({ ...resource, urn: urn(name) });
/** The same resource with changed inputs. */
const changed = (resource: Resource, digest = "as asked later"): Resource => ({
  ...resource,
  digest,
});
const secret: Resource = { ...explicit, secret: true };
/** The resource of this name in another stack of the project. */
const inOtherStack = (resource: Resource): Resource => ({ ...resource, urn: urn("web", "prod") });

/** `COMPUTE_DELETE_POLICY=retain`, typed over the policy "fail". */
const typedRetain: Partial<Plan> = { deletePolicy: "retain", guardsLeftovers: true };

const mail: Resource = { ...explicit, resource: "mail", urn: urn("mail") };
const generatedMail: Resource = { ...generated, resource: "mail", urn: urn("mail") };

/** The slices by name. Most have the default faults (below). */
const described: Record<string, Pick<Slice, "what" | "runs"> & Partial<Slice>> = {
  sequence: {
    what: "a generated name, two runs, the second one with --replace or without, and every fault",
    runs: [[up(generated)], [up(generated), up(generated, { replace: true })]],
    faults: [
      ...postFaults,
      ...interruptions,
      ...listFaults,
      "unfinished",
      "timeout",
      "unsendable",
      "listRefused",
      "not saved",
    ],
    maxFaults: 3,
  },
  explicit: {
    what: "the same with an explicit name, and a person may import",
    runs: [[up(explicit)], [up(explicit), up(explicit, { replace: true })]],
    faults: ["500", "cut", "429", "notSent", ...interruptions, ...listFaults, "unfinished"],
    acts: ["import", "settle"],
  },
  proposed: {
    what: "the same with a name that the engine proposed, and a person may drop the instance from the state",
    runs: [[up(proposed)], [up(proposed), up(proposed, { replace: true })]],
    faults: ["500", "cut", ...interruptions, "unfinished", "not saved"],
    acts: ["state delete", "settle"],
  },
  replacing: {
    what: "three runs, a replacement in the second, and a third one",
    runs: [
      [up(generated)],
      [up(generated, { replace: true })],
      [up(generated), up(generated, { replace: true })],
    ],
    faults: ["500", "cut", "ctrl-C twice", "engine killed", "runner killed"],
  },
  "replacing, proposed": {
    what: "the same with a name that the engine proposed",
    runs: [[up(proposed)], [up(proposed, { replace: true })], [up(proposed)]],
    faults: ["runner killed"],
    maxFaults: 1,
  },
  "two machines": {
    what: "the second run on another machine, or on the first whose disk was wiped",
    runs: [[up(generated)], [up(generated, { machine: 1 }), up(generated)]],
    machines: 2,
    faults: ["500", "cut", "429", "partial", "runner killed"],
    acts: ["wipe"],
  },
  "two machines, live": {
    what: "the second run on another machine, and a Delete fails, destroys or retains",
    runs: [
      [up(generated, { deletePolicy: "fail" })],
      [
        up(generated, { machine: 1, deletePolicy: "fail" }),
        up(generated, { machine: 1, deletePolicy: "fail", leftovers: "warn" }),
        up(generated, { machine: 1, deletePolicy: "destroy" }),
        up(generated, { machine: 1, ...typedRetain }),
      ],
      [up(generated, { machine: 1, deletePolicy: "fail" })],
    ],
    machines: 2,
    acts: ["settle"],
  },
  "nothing to create": {
    what: "after a kill, the next run creates nothing, or only another resource",
    runs: [
      [up(generated), up(explicit), up(proposed)],
      [
        { program: [] },
        up(generatedMail),
        up(generatedMail, { scope: "another" }),
        up({ ...generatedMail, urn: urn("mail", "renamed") }),
      ],
    ],
    faults: ["cut", "unfinished", "ctrl-C", "engine killed", "runner killed"],
    acts: ["settle"],
  },
  "two machines, explicit": {
    what: "the same with an explicit name",
    runs: [
      [up(explicit)],
      [
        up(explicit, { machine: 1 }),
        up(explicit, { machine: 1, replace: true }),
        up(changed(explicit), { machine: 1 }),
        up(explicit),
      ],
    ],
    machines: 2,
    faults: ["500", "cut", "429", "partial", "runner killed"],
    acts: ["wipe"],
  },
  "two of one name": {
    what: "a state is not saved, the next runs are on another machine, and a person imports the named instances",
    runs: [[up(explicit, { machine: 1 })], [up(explicit)], [up(explicit)]],
    machines: 2,
    faults: ["not saved", "cut", "plugin killed"],
    acts: ["import"],
  },
  "live runs": {
    what: "two runs of one stack at once, as after `pulumi cancel`",
    runs: [[up(generated)], [up(generated), up(generated, { replace: true })]],
    together: true,
    faults: ["500", "cut", "429", "notSent", "runner killed", "engine killed", "timeout"],
  },
  overwritten: {
    what: "two runs at once, whose engines save their states over each other, and a third one after them",
    runs: [
      [up(generated)],
      [up(generated), up(generated, { replace: true })],
      [up(generated, { alone: true }), up(generated, { alone: true, replace: true })],
    ],
    together: true,
    faults: ["cut", "unfinished"],
    maxFaults: 1,
    acts: ["portal"],
  },
  "overwritten, explicit": {
    what: "the same with an explicit name, a program of two resources, and an older one of one",
    runs: [
      [{ program: [generatedMail] }],
      [up(explicit)],
      [{ program: [explicit, generatedMail], alone: true }],
    ],
    together: true,
    faults: ["cut"],
    maxFaults: 1,
  },
  "overwritten, three": {
    what: "three runs at once, of which one reads the state that another one then saves over, and a fourth after them",
    runs: [[up(generated)], [up(generated)], [up(generated)], [up(generated, { alone: true })]],
    together: true,
    faults: [],
    maxFaults: 0,
    from: "usual",
  },
  "three live runs": {
    what: "a run that is killed, and two runs at once that find its record",
    runs: [[up(generated)], [up(generated)], [up(generated)]],
    together: true,
    faults: ["cut", "runner killed"],
    maxFaults: 1,
    from: "deep",
  },
  "two stacks": {
    what: "two stacks at once on one machine with the same explicit name, with the same URN or not",
    runs: [
      [up(explicit)],
      [up(explicit, { stack: 1 }), up({ ...explicit, urn: urn("web", "prod") }, { stack: 1 })],
    ],
    together: true,
    stacks: 2,
  },
  "two stacks, in sequence": {
    what: "one stack after the other on one machine with the same explicit name",
    runs: [
      [up(explicit)],
      [up(explicit)],
      [up(explicit, { stack: 1 }), up({ ...explicit, urn: urn("front", "prod") }, { stack: 1 })],
    ],
    stacks: 2,
    maxFaults: 1,
  },
  moved: {
    what: "two stacks with one provider resource, as after `pulumi state move`, one after the other",
    runs: [
      [up(generated), up(explicit)],
      [up(generated), up(explicit)],
      [
        up(inOtherStack(generated), { stack: 1, scope: "provider-of-stack-0" }),
        up(inOtherStack(explicit), { stack: 1, scope: "provider-of-stack-0" }),
      ],
      [up(generated), up(explicit)],
    ],
    stacks: 2,
  },
  "moved, at once": {
    what: "the same at once",
    runs: [
      [up(generated)],
      [up(inOtherStack(generated), { stack: 1, scope: "provider-of-stack-0" })],
    ],
    together: true,
    stacks: 2,
  },
  stranger: {
    what: "somebody else's instance appears, with the explicit or the proposed name",
    runs: [[up(explicit), up(proposed)], [up(explicit)]],
    acts: ["stranger"],
  },
  hooks: {
    what: "error hooks make the engine repeat the create twice",
    runs: [[up(generated), up(explicit), up(generated, { replace: true })], [up(generated)]],
    faults: [
      "500",
      "cut",
      "refused",
      "notSent",
      "unfinished",
      "listRefused",
      "ctrl-C",
      "runner killed",
    ],
    maxFaults: 3,
    hooks: 2,
  },
  attached: {
    what: "attach mode: the next engine comes while calls of the last engine are under way",
    runs: [
      [up(generated), up(explicit)],
      [up(generated), up(explicit)],
    ],
    faults: ["attached anew", "500", "cut", "ctrl-C", "engine killed"],
  },
  "policy fail": {
    what: "a Delete fails after --replace, with a removal at the portal or without",
    runs: [
      [up(generated, { deletePolicy: "fail" })],
      [up(generated, { deletePolicy: "fail" })],
      [up(generated, { deletePolicy: "fail", replace: true })],
    ],
    faults: ["500", "cut", "partial", "lapse", "engine killed", "runner killed"],
    acts: ["portal", "state delete"],
  },
  "policy retain": {
    what: "a Delete leaves the instance running, and the program changes",
    runs: [
      [up(explicit)],
      [up(changed(explicit), { deletePolicy: "retain" })],
      [up(explicit), up(changed(explicit))],
    ],
    maxFaults: 1,
  },
  "let run": {
    what: "a person lets the instance of a refused replacement run, for three changes in a row",
    runs: [
      [up(generated, { deletePolicy: "fail" })],
      [
        up(changed(generated), typedRetain),
        up(generated, { replace: true, deletePolicy: "retain", leftovers: "warn" }),
      ],
      [up(changed(generated, "third"), typedRetain)],
      [up(changed(generated, "fourth"), typedRetain)],
    ],
    faults: ["partial", "cut", "runner killed"],
    acts: ["settle"],
  },
  "let run, explicit": {
    what: "a person lets what has the explicit name run, for two changes in a row",
    runs: [
      [up(explicit)],
      [
        up(changed(explicit), { deletePolicy: "retain", leftovers: "warn" }),
        up(explicit, { machine: 1 }),
      ],
      [
        up(changed(explicit, "third"), { deletePolicy: "retain", machine: 1 }),
        up(changed(explicit, "third"), { leftovers: "fail" }),
      ],
      [up(changed(explicit, "fourth"), { deletePolicy: "retain", leftovers: "fail" })],
    ],
    machines: 2,
    maxFaults: 1,
  },
  twin: {
    what: "the state has two entries of one instance, and the program is as before, changes, or is replaced",
    runs: [
      [up(generated)],
      [
        up(generated),
        up(changed(generated)),
        up(generated, { replace: true }),
        up(generated, { deletePolicy: "retain" }),
        up(generated, { provider: "own" }),
      ],
      [up(changed(generated))],
    ],
    faults: ["cut", "unfinished", "ctrl-C", "runner killed"],
    acts: ["twin"],
  },
  "another provider": {
    what: "a replacement gives the resource another provider and perhaps another name, and the new instance is not ready",
    runs: [
      [up(generated)],
      [
        up(changed(generated), { provider: "own" }),
        up(generated, { provider: "own", replace: true }),
        up(changed(renamed(generated, "site")), { provider: "own" }),
      ],
      [
        up(changed(generated), { provider: "own" }),
        up(changed(renamed(generated, "site")), { provider: "own" }),
        up(changed(generated)),
      ],
    ],
    faults: ["refused", "cut", "unfinished", "ctrl-C", "runner killed"],
    acts: ["portal"],
  },
  "leftovers fail": {
    what: "compute:leftovers is fail, the program changes or not, and a person drops the instance from the state",
    runs: [
      [up(generated)],
      [
        up(generated, { leftovers: "fail" }),
        up(generated, { leftovers: "fail", machine: 1 }),
        up(changed(generated), { leftovers: "fail" }),
      ],
    ],
    machines: 2,
    faults: ["partial", "500", "cut", "runner killed"],
    acts: ["state delete"],
  },
  "leftovers fail, explicit": {
    what: "the same with an explicit name",
    runs: [
      [up(explicit)],
      [
        up(explicit, { leftovers: "fail", machine: 1 }),
        up(changed(explicit), { leftovers: "fail" }),
      ],
    ],
    machines: 2,
    faults: ["partial", "cut", "runner killed"],
    acts: ["state delete"],
  },
  changed: {
    what: "the program changes between the runs, or the portal removes the instance",
    runs: [[up(generated)], [up(changed(generated)), up(generated)]],
    faults: ["500", "cut", "partial", "listRefused", "engine killed", "runner killed"],
    maxFaults: 3,
    acts: ["portal"],
  },
  secret: {
    what: "a secret name, which no record has",
    runs: [[up(secret)], [up(secret)]],
  },
  renamed: {
    what: "the resource is renamed with an alias, or the stack is renamed, or the provider resource is another one",
    runs: [
      [up(generated)],
      [
        up(renamed(generated, "site")),
        up({ ...generated, urn: urn("web", "renamed") }),
        up(generated, { scope: "another" }),
      ],
    ],
  },
  "renamed, explicit": {
    what: "the resource is renamed with an alias and keeps its name or not, and compute:leftovers is fail or warn",
    runs: [
      [up(explicit), up(generated)],
      [
        up(renamed(explicit, "site"), { leftovers: "fail" }),
        up(renamed(generated, "site"), { leftovers: "fail" }),
        up(renamed(explicit, "site"), { leftovers: "fail", scope: "another" }),
        up(changed(renamed(explicit, "site"))),
      ],
    ],
    acts: ["settle"],
  },
  "provider lost": {
    what: "a state that is not saved loses the id of its provider resource with it",
    runs: [[up(generated)], [up(generated, { scope: "another" })]],
    faults: ["not saved", "engine killed", "500", "cut", "runner killed"],
  },
  "renamed, proposed": {
    what: "the same with a name that the engine proposed",
    runs: [
      [up(proposed)],
      [
        up(renamed(proposed, "site")),
        up({ ...proposed, urn: urn("web", "renamed") }),
        up(proposed, { scope: "another" }),
      ],
    ],
  },
  tokens: {
    what: "the second run uses a token of another tenant",
    runs: [[up(generated)], [up(generated, { token: "two" })], [up(generated)]],
    faults: ["500", "cut", "engine killed", "runner killed"],
  },
  "rotated token": {
    what: "the second run uses another token of the same tenant, and another resource may be in the state",
    runs: [
      [{ program: [generatedMail] }],
      [up(generated)],
      [{ program: [generatedMail, generated], token: "one#2" }],
    ],
    faults: ["cut", "engine killed", "runner killed"],
    maxFaults: 1,
    acts: ["portal"],
    from: "usual",
  },
  "accounts and places": {
    what: "the second run uses another account or another service",
    runs: [
      [up(generated, { account: "a" })],
      [
        up(generated, { token: "two", account: "b" }),
        up(generated, { address: "https://elsewhere" }),
      ],
    ],
  },
  stateless: {
    what: "`pulumi do … --stateless` twice, also at once, or once before a stack that has the same URN",
    runs: [
      [up(explicit, { stateless: true })],
      [
        up(explicit, { stateless: true, scope: "another" }),
        up(explicit, { stateless: true }),
        up(explicit, { scope: "another" }),
      ],
    ],
    together: true,
    maxFaults: 1,
  },
  siblings: {
    what: "two resources in one program with the same explicit name",
    runs: [[{ program: [explicit, mail] }], [{ program: [explicit, mail] }]],
    faults: ["cut", "runner killed"],
    maxFaults: 1,
  },
  "siblings, replaced": {
    what: "a second resource with the same explicit name comes into the program, and compute:leftovers is fail or warn",
    runs: [
      [up(explicit)],
      [up(explicit), { program: [explicit, mail], leftovers: "fail" }],
      [{ program: [explicit, mail], replace: true }],
    ],
    faults: ["cut", "runner killed"],
    maxFaults: 1,
    from: "usual",
  },
  "siblings, generated": {
    what: "two resources in one program, and a second run",
    runs: [[{ program: [generated, generatedMail] }], [{ program: [generated, generatedMail] }]],
    faults: ["cut", "runner killed"],
    maxFaults: 1,
  },
  "no disk": {
    what: "two resources with the same explicit name, and a ledger that can't be written",
    runs: [[{ program: [explicit, mail] }]],
    faults: ["500", "cut", "429"],
    noDisk: true,
  },
  "replaced again": {
    what: "an explicit name, --replace twice",
    runs: [[up(explicit)], [up(explicit, { replace: true })], [up(explicit, { replace: true })]],
    faults: ["cut", "runner killed"],
  },
  unlockable: {
    what: "files can't be locked, so whether another session lives is not known",
    runs: [[up(generated)], [up(generated)]],
    faults: ["500", "cut", "engine killed", "runner killed"],
    unlockable: true,
  },
  "slow POST": {
    what: "a POST that is under way longer than the settling time",
    runs: [
      [up(generated), up(proposed)],
      [up(generated), up(proposed)],
    ],
    faults: ["500", "cut", "engine killed", "runner killed"],
    slowPosts: true,
  },
  "wrong id": {
    what: "the service answers with the id of an instance that existed before",
    runs: [
      [up(explicit), { program: [generated, generatedMail] }],
      [up(explicit), up(generated, { replace: true })],
    ],
    faults: ["wrong id", "cut"],
    maxFaults: 1,
    acts: ["stranger"],
  },
  lapse: {
    what: "once, a complete listing lacks an instance that exists, or listings lack all for a while",
    runs: [
      [up(generated), up(explicit)],
      [up(generated), up(explicit), up(generated, { replace: true })],
    ],
    faults: ["lapse", "lists nothing", "500", "cut", "engine killed", "runner killed"],
  },
  late: {
    what: "the service lists an instance under another name, or acts on a POST long after its connection was cut",
    runs: [[up(generated)]],
    faults: ["renamed", "overdue", "500", "cut"],
    maxFaults: 4,
  },
};

/** All slices, in the order in which `npm run explore` walks them. */
export const slices: Slice[] = Object.entries(described).map(([name, slice]) => ({
  name,
  faults: ["500", "cut", "runner killed"],
  maxFaults: 2,
  ...slice,
}));

const depths: Depth[] = ["shallow", "usual", "deep"];

/**
 * Returns the slices of a walk. A shallow one leaves out those that take long even with one fault, and whose faults and acts others
 * have, too.
 */
export function slicesOf(depth: Depth): Slice[] {
  const level = depths.indexOf(depth);
  return slices
    .filter(({ from = "shallow" }) => depths.indexOf(from) <= level)
    .map((slice) => atDepth(slice, depth));
}

/**
 * Returns the slice with one fault more in a deep walk, and one less in a shallow one, but at least one: each kind of fault then
 * still comes at each step, and the invariants are checked after it.
 */
export function atDepth(slice: Slice, depth: Depth): Slice {
  const { maxFaults } = slice;
  if (depth === "usual" || (depth === "shallow" && maxFaults <= 1)) return slice;
  return { ...slice, maxFaults: maxFaults + (depth === "deep" ? 1 : -1) };
}
