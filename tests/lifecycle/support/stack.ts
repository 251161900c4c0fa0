/** A stack for the lifecycle tests: the simulation's model of the engine, with plugins over real gRPC. */
import { PropertyDiff } from "@pulumi/pulumi/proto/provider_pb";
import { randomBytes, randomUUID } from "node:crypto";
import { InstanceUnfinished } from "../../../provider/errors";
import { propertyMap, type PropertyMap } from "../../../provider/pulumi/propertyValue";
import type { DiffKind } from "../../../provider/pulumi/names";
import type { TestClient } from "../../../provider/rpc/testing/client";
import { CallFailed, type Unfinished } from "../../../provider/rpc/testing/failure";
import {
  defaultProvider,
  type Calls,
  Engine,
  Stack as Model,
  type Held,
  type Program,
  type UpOptions,
} from "../../simulation/engine";
import type { Plugin } from "./plugin";

export type { Held, Program };

export const urnOf = (name: string) => new Model("dev").urnOf(name);

/** The required inputs of an instance. */
export const required = { flavorId: "kvm-1", imageId: "debian-13", vpcId: "vpc-1" };

/** Valid inputs of an instance, with changes. */
export function inputs(more: Parameters<typeof propertyMap>[0] = {}): PropertyMap {
  return propertyMap({ ...required, ...more });
}

/**
 * Returns the resource without `__accepted`, the time of the 202. It matters only during the settling time, until which
 * a listing may lack the instance.
 */
export function lasting({ outputs, ...rest }: Held): Held {
  return { ...rest, outputs: propertyMap({ ...outputs, __accepted: undefined }) };
}

/** The result of an operation: the steps done, and the failed calls by resource name. */
export class Run {
  readonly failed: Record<string, CallFailed> = {};
  constructor(readonly did: string[]) {}

  /** The only failed call. @throws if there is none or more than one */
  get failure(): CallFailed {
    const [only, ...others] = Object.values(this.failed);
    if (!only || others.length > 0) throw new Error(`${others.length + (only ? 1 : 0)} failed`);
    return only;
  }
}

export class Stack {
  /** The error messages that the engine would have shown. */
  readonly shownErrors: string[] = [];
  readonly #model = new Model("dev");

  /** The id of the provider resource. The provider resource is deleted after the last resource. */
  get scope(): string {
    const held = this.#model.providers.get(defaultProvider);
    const provider = held ?? { scope: randomUUID(), settings: propertyMap({}) };
    this.#model.providers = new Map([[defaultProvider, provider]]);
    return provider.scope;
  }
  get resources(): ReadonlyMap<string, Held> {
    return new Map(this.#model.resources.map((held) => [held.name, held]));
  }
  get ids(): string[] {
    return this.#model.ids;
  }
  /** Returns a resource in the state. @throws if there is none of this name */
  held(name = "web"): Held {
    const held = this.#model.resources.find((resource) => resource.name === name);
    if (!held) throw new Error(`${name} is not in the state`);
    return held;
  }
  /** Adds a resource to the state, as if an earlier run had saved it. */
  hold(name: string, held: Omit<Held, "name" | "urn" | "old">): void {
    const urn = urnOf(name);
    // The state has a provider resource, too.
    void this.scope;
    this.#model.save([...this.#model.resources, { ...held, name, urn, old: false }]);
  }
  up(plugin: Plugin, program: Program, options: UpOptions = {}): Promise<Run> {
    return this.#run(plugin, (engine) => engine.up(program, options));
  }
  refresh(plugin: Plugin, options: UpOptions = {}): Promise<Run> {
    return this.#run(plugin, (engine) => engine.refresh(options));
  }
  import(plugin: Plugin, name: string, id: string): Promise<Run> {
    return this.#run(plugin, (engine) => engine.import(name, id));
  }

  /** @throws any error that is not a failed call, such as the import of a missing instance */
  async #run(plugin: Plugin, operation: (engine: Engine) => Promise<void>): Promise<Run> {
    const calls = callsOf(plugin.client);
    const engine = new Engine(this.#model, () => calls, propertyMap({}), {
      pause: () => Promise.resolve(),
      saves: () => true,
      randomSeed: () => randomBytes(32),
      newScope: randomUUID,
    });
    await operation(engine);
    const run = new Run(engine.did);
    for (const { name, error: thrown } of engine.failed) {
      const error = thrown instanceof UnfinishedCall ? thrown.call : thrown;
      if (!(error instanceof CallFailed)) throw error;
      run.failed[name] = error;
      this.shownErrors.push(error.message, ...(error.unfinished?.reasons ?? []));
    }
    return run;
  }
}

/** A failed call with an unfinished instance, as the error type that the model of the engine expects. */
class UnfinishedCall extends InstanceUnfinished {
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

/** The calls of the model of the engine, made over real gRPC. */
function callsOf(client: TestClient): Calls {
  return {
    // Here a plugin serves several operations. `startPlugin` configures it, and `stop` cancels it.
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
    create: (request) => withUnfinished(client.create(request)),
    update: (request) => withUnfinished(client.update(request)),
    read: ({ inputs, outputs, ...request }) =>
      withUnfinished(
        client.read({ ...request, ...(inputs && { inputs }), ...(outputs && { outputs }) }),
      ),
    delete: (request) => client.delete(request),
  };
}

async function withUnfinished<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const unfinished = error instanceof CallFailed ? error.unfinished : undefined;
    if (unfinished) throw new UnfinishedCall(error as CallFailed, unfinished);
    throw error;
  }
}
