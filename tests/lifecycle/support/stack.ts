/**
 * A stack as the engine keeps one: what it does with each answer. Messages that a person would see
 * are kept in `told`.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { status } from "@grpc/grpc-js";
import { DiffResponse, PropertyDiff } from "@pulumi/pulumi/proto/provider_pb";
import { propertyMap, type PropertyMap } from "../../../provider/property/value";
import { CallFailed } from "../../../provider/rpc/testing/failure";
import { instanceToken } from "../../../provider/tokens";
import type { Plugin } from "./plugin";

export interface Held {
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
  initErrors: readonly string[];
  refreshBeforeUpdate: boolean;
}
export type Program = Readonly<Record<string, PropertyMap>>;
export interface Options {
  timeoutSeconds?: number;
}

export const urnOf = (name: string) => `urn:pulumi:dev::project::${instanceToken}::${name}`;

/** Inputs that the service takes. */
export function inputs(more: Parameters<typeof propertyMap>[0] = {}): PropertyMap {
  return propertyMap({ flavorId: "kvm-1", imageId: "debian-13", vpcId: "vpc-1", ...more });
}

/** Without what counts only until the settling time after its create is over. */
export function lasting({ outputs, ...rest }: Held): Held {
  return { ...rest, outputs: propertyMap({ ...outputs, __accepted: undefined }) };
}

/** How one run went: what was done with each resource, and what failed. */
export class Run {
  readonly did: string[] = [];
  readonly failed: Record<string, CallFailed> = {};
  get failure(): CallFailed {
    const [only, ...others] = Object.values(this.failed);
    if (!only || others.length > 0) throw new Error(`${others.length + (only ? 1 : 0)} failed`);
    return only;
  }
}

export class Stack {
  readonly resources = new Map<string, Held>();
  /** The id of its provider resource, which goes with the last resource. */
  scope: string = randomUUID();
  readonly told: string[] = [];

  get ids(): string[] {
    return [...this.resources.values()].map(({ id }) => id);
  }
  /** Another stack, of the same name. */
  beAnother(): void {
    this.resources.clear();
    this.scope = randomUUID();
  }
  held(name = "web"): Held {
    const held = this.resources.get(name);
    if (!held) throw new Error(`${name} is not in the state`);
    return held;
  }

  async up(plugin: Plugin, program: Program, options: Options = {}): Promise<Run> {
    const gone = [...this.resources.keys()].filter((name) => !(name in program));
    const run = await this.each(Object.keys(program), (name, it) =>
      this.step(plugin, it, name, program[name] ?? propertyMap({}), options),
    );
    await this.each(gone, (name, it) => this.delete(plugin, it, name, options), run);
    return run;
  }

  async refresh(plugin: Plugin, options: Options = {}): Promise<Run> {
    return this.each([...this.resources.keys()], (name, it) =>
      this.read(plugin, it, name, options),
    );
  }

  async destroy(plugin: Plugin, options: Options = {}): Promise<Run> {
    const run = await this.up(plugin, {}, options);
    if (this.resources.size === 0) this.beAnother();
    return run;
  }

  async import(plugin: Plugin, name: string, id: string): Promise<Run> {
    return this.each([name], async (_, run) => {
      await this.keeping(plugin, name, undefined, async () => {
        const read = await plugin.client.read({ urn: urnOf(name), id });
        if (!read) throw new Error(`resource ${id} does not exist`);
        run.did.push(`import ${name}`);
        return read;
      });
    });
  }

  private async step(plugin: Plugin, run: Run, name: string, news: PropertyMap, options: Options) {
    if (this.resources.get(name)?.refreshBeforeUpdate) {
      await this.read(plugin, run, name, options).catch((error: unknown) => {
        // An unfinished instance is kept so, and the update that follows goes on with it.
        if (!(error instanceof CallFailed && error.unfinished)) throw error;
      });
    }
    const { client } = plugin;
    const urn = urnOf(name);
    const old = this.resources.get(name);
    const checked = async (olds: PropertyMap) => {
      const reply = await client.check({ urn, olds, news, randomSeed: randomBytes(32) });
      if (reply.failures.length > 0) throw new Error(JSON.stringify(reply.failures));
      return reply.inputs;
    };
    const wanted = await checked(old?.inputs ?? propertyMap({}));
    if (!old) return this.create(plugin, run, name, wanted, options);

    const { id } = old;
    const state = { urn, id, oldInputs: old.inputs, oldOutputs: old.outputs };
    const diff = await client.diff({ ...state, news: wanted });
    const replaces = diff.detaileddiffMap.some(([, { kind }]) => replacements.has(kind));
    if (replaces) {
      const fresh = await checked(propertyMap({}));
      if (diff.deletebeforereplace) await this.delete(plugin, run, name, options);
      await this.create(plugin, run, name, fresh, options);
      if (!diff.deletebeforereplace) await client.delete(state);
    } else if (diff.changes === DiffResponse.DiffChanges.DIFF_SOME || old.initErrors.length > 0) {
      run.did.push(`update ${name}`);
      await this.keeping(plugin, name, old.inputs, async () => {
        const outputs = await client.update({ ...state, news: wanted, ...options });
        return { id, inputs: wanted, outputs };
      });
    } else run.did.push(`same ${name}`);
  }

  private async create(
    plugin: Plugin,
    run: Run,
    name: string,
    inputs: PropertyMap,
    options: Options,
  ): Promise<void> {
    run.did.push(`create ${name}`);
    await this.keeping(plugin, name, inputs, async () => {
      const { id, outputs } = await plugin.client.create({ urn: urnOf(name), inputs, ...options });
      return { id, inputs, outputs };
    });
  }

  private async delete(plugin: Plugin, run: Run, name: string, options: Options) {
    const { id, inputs: oldInputs, outputs: oldOutputs } = this.held(name);
    await plugin.client.delete({ urn: urnOf(name), id, oldInputs, oldOutputs, ...options });
    refuseOrphan(plugin);
    run.did.push(`delete ${name}`);
    this.resources.delete(name);
  }

  private async read(plugin: Plugin, run: Run, name: string, options: Options): Promise<void> {
    const { id, inputs, outputs } = this.held(name);
    await this.keeping(plugin, name, undefined, async () => {
      const read = await plugin.client.read({ urn: urnOf(name), id, inputs, outputs, ...options });
      run.did.push(`${read ? "read" : "gone"} ${name}`);
      return read;
    });
  }

  /**
   * The state after a call: also after one that gave an unfinished instance. Then a Create and an
   * Update keep the inputs that the engine had (for an Update, the old ones); a Read gives its own.
   */
  private async keeping(
    plugin: Plugin,
    name: string,
    hadInputs: PropertyMap | undefined,
    call: () => Promise<Pick<Held, "id" | "inputs" | "outputs"> | undefined>,
  ): Promise<void> {
    try {
      const after = await call();
      refuseOrphan(plugin);
      if (!after) this.resources.delete(name);
      else this.resources.set(name, { ...after, initErrors: [], refreshBeforeUpdate: false });
    } catch (error) {
      if (error instanceof CallFailed && error.unfinished && !plugin.orphaned) {
        const { id, outputs, reasons, refreshBeforeUpdate } = error.unfinished;
        const inputs = hadInputs ?? error.unfinished.inputs;
        const kept = { id, inputs, outputs, initErrors: reasons, refreshBeforeUpdate };
        this.resources.set(name, kept);
      }
      throw error;
    }
  }

  private async each(
    names: readonly string[],
    step: (name: string, run: Run) => Promise<void>,
    run = new Run(),
  ): Promise<Run> {
    const one = async (name: string) => {
      try {
        await step(name, run);
      } catch (thrown) {
        const error = lostPlugin(thrown) ?? thrown;
        if (!(error instanceof CallFailed)) throw error;
        run.failed[name] = error;
        this.told.push(error.message, ...(error.unfinished?.reasons ?? []));
      }
    };
    await Promise.all(names.map(one));
    return run;
  }
}

const replacements = new Set<number>([
  PropertyDiff.Kind.ADD_REPLACE,
  PropertyDiff.Kind.DELETE_REPLACE,
  PropertyDiff.Kind.UPDATE_REPLACE,
]);

/** An engine that is dead keeps no answer. */
function refuseOrphan({ orphaned }: Plugin): void {
  if (orphaned) throw new CallFailed(status.CANCELLED, "the engine is dead", undefined, []);
}

/** A call to a plugin that was killed before it, as grpc-js puts it. */
function lostPlugin(error: unknown): CallFailed | undefined {
  return error instanceof Error && error.message === "Channel has been shut down"
    ? new CallFailed(status.UNAVAILABLE, error.message, undefined, [])
    : undefined;
}
