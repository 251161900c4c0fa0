/** Tests how listings are compared with states. tests/lifecycle/{audit,importPlan}.test.ts test the commands. */
import { expect, test } from "@jest/globals";
import type { Origin } from "../provider/origin";
import { compare } from "./compare";
import type { ServiceListing } from "./listings";
import { held as heldAs, stateOf } from "./settle/testing/states";
import type { StateResource } from "./state";

const here: Origin = { baseUrl: "https://a.example/v2", tokenKind: "live", tokenHash: "1" };
/** Of the session and the listing, only what `compare` reads. */
const service = (ids: string[], origin = here) =>
  ({
    origin,
    session: { addressName: "compute:baseUrl" },
    listing: { items: new Map(ids.map((id) => [id, { id }])) },
  }) as unknown as ServiceListing;
const instance = (id: string, more: Partial<StateResource> = {}): StateResource => {
  const [resource] = stateOf([heldAs(id, id)]).resources.slice(-1);
  return { ...(resource as StateResource), origin: here, ...more };
};

function compared(services: ServiceListing[], resources: StateResource[]) {
  const held = Map.groupBy(resources, ({ id }) => id);
  const view = { services, states: [], held, doubts: [], readAt: 0 };
  const { listed, missing, notComparable } = compare(view);
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

test.each<[string, ServiceListing[], StateResource[], Partial<ReturnType<typeof compared>>]>([
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
