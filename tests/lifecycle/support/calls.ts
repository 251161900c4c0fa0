/** The calls of the model of the engine (tests/simulation/engine.ts), made over real gRPC. */
import { PropertyDiff } from "@pulumi/pulumi/proto/provider_pb";
import { InstanceUnfinished } from "../../../provider/errors";
import type { DiffKind } from "../../../provider/requests";
import type { TestClient } from "../../../provider/rpc/testing/client";
import { CallFailed, type Unfinished } from "../../../provider/rpc/testing/failure";
import type { Calls } from "../../simulation/engine";

/** The same, in the type by which the model knows it. */
export class UnfinishedCall extends InstanceUnfinished {
  constructor(
    readonly call: CallFailed,
    { id, inputs, outputs, reasons }: Unfinished,
  ) {
    super(id, { inputs, outputs }, reasons);
  }
}

const { Kind } = PropertyDiff;
const kinds: Readonly<Record<number, DiffKind>> = {
  [Kind.ADD]: "add",
  [Kind.ADD_REPLACE]: "add-replace",
  [Kind.DELETE]: "delete",
  [Kind.DELETE_REPLACE]: "delete-replace",
  [Kind.UPDATE]: "update",
  [Kind.UPDATE_REPLACE]: "update-replace",
};

export function callsOf(client: TestClient): Calls {
  return {
    // A plugin here has more than one run: it was configured when it started, and `World.leave` cancels.
    configure: () => Promise.resolve(),
    cancel: () => undefined,
    check: ({ autonaming: _, ...request }) => client.check(request),
    async diff(request) {
      const { detaileddiffMap, deletebeforereplace } = await client.diff(request);
      const detailed = detaileddiffMap.map(([name, { kind }]) => [name, kinds[kind]] as const);
      return {
        detailed: Object.fromEntries(detailed) as Record<string, DiffKind>,
        deleteBeforeReplace: deletebeforereplace,
      };
    },
    create: (request) => answered(client.create(request)),
    update: (request) => answered(client.update(request)),
    read: ({ inputs, outputs, ...request }) =>
      answered(client.read({ ...request, ...(inputs && { inputs }), ...(outputs && { outputs }) })),
    delete: (request) => client.delete(request),
  };
}

async function answered<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const unfinished = error instanceof CallFailed ? error.unfinished : undefined;
    if (unfinished) throw new UnfinishedCall(error as CallFailed, unfinished);
    throw error;
  }
}
