/** Brings together what the ledgers and the state of a stack say of the same create. */
import { isOfStack } from "../../provider/urn";
import type { CreateInDoubt } from "../creates";
import { scopesOf, type ExportedState, type PendingCreate } from "./exported";

/** A create of the stack whose instance may be in no state. */
export interface Doubt {
  readonly urn: string;
  /** The name it asked for. Undefined if that is a secret. */
  readonly name: string | undefined;
  readonly isGenerated: boolean;
  /**
   * What the state says of it, the latest first. Empty if the state was saved over, or was never saved. A create that is
   * repeated after a kill asks for the same explicit name, but for another generated one.
   */
  readonly pending: readonly PendingCreate[];
  /** What a ledger on this machine says of it. */
  readonly record: CreateInDoubt | undefined;
}

/** Returns the creates in doubt of the stack with this state, and those of any stack with one of the URNs in `also`. */
export function doubtsOf(
  stack: string,
  state: ExportedState,
  creates: readonly CreateInDoubt[],
  also: ReadonlySet<string>,
): Doubt[] {
  const scopes = scopesOf(state);
  const isOurs = ({ urn, scope, isHere }: CreateInDoubt) =>
    also.has(urn) ||
    (scope !== undefined && scopes.has(scope)) ||
    (isHere && isOfStack(urn, stack));
  const records = creates.filter(isOurs).sort((one, other) => (one.at > other.at ? -1 : 1));
  const instances = state.pending.filter(({ instance }) => instance !== undefined);
  const ofState = [...Map.groupBy(instances, keyOfPending)].map(([key, pending]): Doubt => {
    const record = records.find((one) => keyOf(one) === key);
    const { name, isGenerated = false } = pending[0]?.instance ?? {};
    return { urn: pending[0]?.resource.urn ?? "", name, isGenerated, pending, record };
  });
  const joined = new Set(ofState.map(({ record }) => record));
  const ofLedger = records
    .filter((record) => !joined.has(record))
    .map((record): Doubt => {
      const { urn, name, isGenerated } = record;
      return { urn, name, isGenerated, pending: [], record };
    });
  return [...ofState, ...ofLedger];
}

function keyOf({ urn, name = "" }: { urn: string; name?: string | undefined }): string {
  return `${urn} ${name.toLowerCase()}`;
}

function keyOfPending({ resource, instance }: PendingCreate): string {
  return keyOf({ urn: resource.urn, name: instance?.name });
}
