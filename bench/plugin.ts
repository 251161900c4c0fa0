/** Runs a plugin as the engine does: as a process that is called over gRPC. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  propertyMap,
  Secret,
  type PropertyMap,
  type PropertyValue,
} from "../provider/pulumi/propertyValue";
import { connect } from "../provider/rpc/testing/client";
import { TestEngine } from "../provider/rpc/testing/engine";
import { instanceToken } from "../provider/pulumi/names";
import { firstLine } from "../tools/support/command";
import { temporaryFolder } from "../tools/support/files";
import {
  cursorParameter,
  instanceInputs,
  noLimit,
  token,
  type EmulatorProcess,
} from "./emulatorProcess";

export const urnOf = (name: string) => `urn:pulumi:bench::bench::${instanceToken}::${name}`;

/** As Check returns them. */
export function inputsOf(name: string): PropertyMap {
  return propertyMap({ name, ...instanceInputs });
}

/** Starts a plugin, and returns it with its client. Without an engine that takes its messages, it sends none. */
export async function startPlugin(executable: string, takesMessages = true) {
  const engine = await TestEngine.start();
  const home = temporaryFolder();
  const start = performance.now();
  const address = takesMessages ? engine.address : "";
  const child = spawn(executable, takesMessages ? [address] : [], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, PULUMI_HOME: home.path },
  });
  const client = connect(Number(await firstLine(child.stdout)));
  await client.version();
  const answerMs = performance.now() - start;
  return {
    client,
    /** From the start of the process to its answer to GetPluginInfo. */
    answerMs,

    /** Adds `settings` to those that every benchmark needs. */
    async configure(service: EmulatorProcess, settings: Record<string, PropertyValue> = {}) {
      await client.handshake(address);
      const common = { requestsPerMinute: noLimit, cursorParameter };
      const access = { baseUrl: service.url, apiToken: new Secret(token) };
      await client.configure(propertyMap({ ...access, ...common, ...settings }));
    },

    /** Resident memory now. */
    memoryMB(): number {
      const residentKB = execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)]);
      return Number(residentKB.toString()) / 1024;
    },

    /** The most resident memory that it has had. Linux only. */
    peakMemoryMB(): number {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) / 1024;
    },

    async [Symbol.asyncDispose](): Promise<void> {
      client.close();
      const ended = once(child, "exit");
      child.kill("SIGINT");
      await ended;
      engine.stop();
      home[Symbol.dispose]();
    },
  };
}
