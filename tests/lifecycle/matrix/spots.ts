/** Every request of an instance's life, and which of its runs makes it. */
import type { Where } from "./faults";

interface Spot {
  run: "up" | "refresh" | "destroy";
  where: Where;
  /** The instance stays in PROVISIONING until the fault has struck. */
  whileWaiting?: true;
}

const account = { method: "GET", path: "/v2/account" };
const list = { method: "GET", path: "/v2/instances" };

export const destroyPath = "/v2/instances/{id}";

export const spots = {
  "the account": { run: "up", where: account },
  "the baseline": { run: "up", where: list },
  "the POST": { run: "up", where: { method: "POST", path: "/v2/instances" } },
  "the first poll": { run: "up", where: { ...list, after: 1 }, whileWaiting: true },
  "a later poll": { run: "up", where: { ...list, after: 3 }, whileWaiting: true },
  "the account of a refresh": { run: "refresh", where: account },
  "the list of a refresh": { run: "refresh", where: list },
  "the DELETE": { run: "destroy", where: { method: "DELETE", path: "/v2/instances/*" } },
  "the proof that it is gone": { run: "destroy", where: { ...list, after: 1 } },
} satisfies Record<string, Spot>;

export type SpotName = keyof typeof spots;
export const spot = (name: SpotName): Spot => spots[name];
