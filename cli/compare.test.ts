/** Tests how listings are compared with states. tests/lifecycle/{audit,importPlan}.test.ts test the commands. */
import { expect, test } from "@jest/globals";
import type { Origin } from "../provider/origin";
import { ledgerRecord } from "../provider/testing/ledgerRecord";
import { compare, explainUnmanaged, withStacks } from "./compare";
import type { RecordedCreate } from "./creates";
import type { Resource } from "./pulumi";
import type { ServiceListing } from "./listings";

const here: Origin = { baseUrl: "https://a.example/v2", tokenKind: "live", tokenHash: "1" };
/** Of the session and the listing, only what `compare` reads. */
const service = (ids: string[], origin = here) =>
  ({
    origin,
    session: { addressName: "compute:baseUrl" },
    listing: { items: new Map(ids.map((id) => [id, { id }])) },
  }) as unknown as ServiceListing;
const instance = (id: string, more: Partial<Resource> = {}): Resource => ({
  stack: "dev",
  urn: `urn:${id}`,
  type: "compute:index:Instance",
  id,
  name: undefined,
  isNameSecret: false,
  hasGeneratedName: false,
  origin: here,
  acceptedAt: undefined,
  provider: undefined,
  scope: "",
  external: false,
  ...more,
});

function compared(services: ServiceListing[], resources: Resource[]) {
  const state = { stack: "dev", resources, pending: [] };
  const { listed, missing, notComparable } = compare(services, [state]);
  const managed = listed.filter(({ managers }) => managers.length > 0);
  return {
    managed: managed.map(({ item, managers }) => `${item.id} by ${managers.length}`),
    unmanaged: listed.filter((one) => !managed.includes(one)).map(({ item }) => item.id),
    missing: [...missing].map(([{ id }, { origin }]) => `${id} of token ${origin.tokenHash}`),
    notComparable: [...notComparable.keys()].map(({ id }) => id),
  };
}

const otherToken = { ...here, tokenHash: "2" };
const ana = { ...here, account: "ana" };
const ben = { ...otherToken, account: "ben" };
const unknown = { origin: undefined };
const isRead = { external: true };

test.each<[string, ServiceListing[], Resource[], Partial<ReturnType<typeof compared>>]>([
  [
    "an instance that is listed and in states is managed; one that is only listed is unmanaged, one only in a state is missing",
    [service(["both", "twice", "alone"])],
    [
      ...["both", "twice", "missing"].map((id) => instance(id)),
      instance("twice", { urn: "urn:2" }),
    ],
    { managed: ["both by 1", "twice by 2"], unmanaged: ["alone"], missing: ["missing of token 1"] },
  ],
  [
    "an instance with the same id at another address is not managed by the one here",
    [service(["i-1"])],
    [instance("i-1", { origin: { ...here, baseUrl: "https://b.example/v2" } })],
    { unmanaged: ["i-1"], notComparable: ["i-1"] },
  ],
  [
    "an instance with the same id of another token kind is a different instance",
    [service(["i-1"])],
    [instance("i-1", { origin: { ...here, tokenKind: "test" } })],
    { unmanaged: ["i-1"], notComparable: ["i-1"] },
  ],
  [
    "an instance that a program only reads is unmanaged, and never missing",
    [service(["i-1"])],
    [instance("i-1", isRead), instance("i-2", isRead)],
    { unmanaged: ["i-1"] },
  ],
  [
    "an instance whose state names no service is managed if it is listed, and never missing",
    [service(["i-1"])],
    [instance("i-1", unknown), instance("i-2", unknown)],
    { managed: ["i-1 by 1"], notComparable: ["i-2"] },
  ],
  [
    "with two tokens of one service, an instance is missing from the listing of its own token",
    [service(["i-1"], otherToken), service(["i-2"])],
    [instance("i-1"), instance("gone")],
    { managed: ["i-1 by 1"], unmanaged: ["i-2"], missing: ["gone of token 1"] },
  ],
  [
    "two tokens of one tenant list the same instances, and each instance counts once",
    [service(["i-1", "i-2"]), service(["i-1", "i-2"], otherToken)],
    [instance("i-1", { origin: otherToken })],
    { managed: ["i-1 by 1"], unmanaged: ["i-2"] },
  ],
  [
    "an instance that two users of one tenant list is managed if one of them is in its state",
    [service(["i-1"], ana), service(["i-1"], ben)],
    [instance("i-1", { origin: ana })],
    { managed: ["i-1 by 1"] },
  ],
])("%s", (_, services, instances, expected) => {
  const nothing = { managed: [], unmanaged: [], missing: [], notComparable: [] };
  expect(compared(services, instances)).toEqual({ ...nothing, ...expected });
});

const live = { tokenKind: "live", baseUrl: here.baseUrl };
test.each([
  [{ ...live, id: "i-1" }, /^an earlier run created it for urn:\S+; `.* settle` in the folder/],
  [live, /^it has the name of a create in doubt of urn:\S+; `.* settle` in the folder/],
  [{ ...live, id: "i-2" }, undefined],
  [{ ...live, before: ["i-1"] }, undefined],
  [{ ...live, tokenKind: "test" }, undefined],
] as const)("a create in doubt with %j explains an instance of its name: %s", (more, note) => {
  const record = ledgerRecord("web", more as Parameters<typeof ledgerRecord>[1]);
  const creates = [{ record, isHere: true, liveness: "dead" } as RecordedCreate];
  // The service may add a domain.
  const item = { id: "i-1", name: "web.example.com" };
  const listed = { service: service([]), item, managers: [] };
  const found = explainUnmanaged(
    listed,
    { states: [], instances: [], pending: [] },
    withStacks(creates, []),
  );
  if (note) expect(found).toMatchObject({ urn: record.urn, note: expect.stringMatching(note) });
  else expect(found).toBeUndefined();
});

const moved: Origin = { ...here, baseUrl: "https://b.example/v2" };
test.each<[string, Origin | undefined, RegExp | undefined]>([
  ["at another address", moved, /^stack dev has an instance with this id: it lives at https:\/\/b/],
  ["at another address, of another token kind", { ...moved, tokenKind: "test" }, undefined],
  ["of another token kind", { ...here, tokenKind: "test" }, undefined],
])(
  "an unmanaged instance whose id a stack has %s may be the same one unless token kinds differ",
  (_where, origin, note) => {
    const seen = compare(
      [service(["i-1"])],
      [{ stack: "dev", resources: [instance("i-1", { origin, isNameSecret: true })], pending: [] }],
    );
    const [listed] = seen.listed;
    const found = listed && explainUnmanaged(listed, seen, []);
    const shown = { isOpen: true, isNameSecret: true };
    if (note) expect(found).toEqual({ note: expect.stringMatching(note), ...shown });
    else expect(found).toBeUndefined();
  },
);

test("after `stack rename`, a create belongs to the stack that has its provider resource, under that one's URN", () => {
  const record = ledgerRecord("web", { scope: "s1" });
  const creates = [{ record, isHere: true, liveness: "dead" } as RecordedCreate];
  const provider = instance("s1", { urn: "urn:pulumi:renamed::proj::pulumi:providers:compute::x" });
  const [create] = withStacks(creates, [
    { stack: "organization/proj/dev", resources: [], pending: [] },
    { stack: "organization/proj/renamed", resources: [provider], pending: [] },
  ]);
  const urn = record.urn.replace("dev", "renamed");
  expect(create).toMatchObject({ stack: "organization/proj/renamed", urn });
});

test.each([
  ["organization/proj/dev", "organization/proj/dev"],
  ["dev", "dev"],
  ["organization/other/dev", undefined],
  ["organization/proj/develop", undefined],
] as const)("of the stacks, %s is named in the commands as %s", (stack, named) => {
  const record = ledgerRecord("web", {
    tokenKind: "live",
    baseUrl: here.baseUrl,
    givenBy: "s1",
  });
  const creates = [{ record, isHere: true, liveness: "dead" } as RecordedCreate];
  const listed = { service: service([]), item: { id: "i-1", name: "web" }, managers: [] };
  const states = [{ stack, resources: [], pending: [] }];
  const found = explainUnmanaged(
    listed,
    { states, instances: [], pending: [] },
    withStacks(creates, states),
  );
  const option = named === undefined ? "" : ` --stack ${named}`;
  expect(found?.note).toMatch(new RegExp(` settle${option}\` in the folder of its project`));
});
