/** The built plugin as a process of its own, as the engine starts it, and what it uses of the machine. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import { firstLine } from "../support/firstLine";
import { ToolError } from "../support/main";

/** The part of Node's diagnostic report that we read. */
const report = z.object({
  javascriptHeap: z.object({ usedMemory: z.number() }),
  resourceUsage: z.object({
    userCpuSeconds: z.number(),
    kernelCpuSeconds: z.number(),
    rss: z.number(),
  }),
  libuv: z.array(
    z.object({
      type: z.string(),
      is_active: z.boolean(),
      remoteEndpoint: z.object({ port: z.number() }).nullish(),
    }),
  ),
});

export interface Usage {
  rssMb: number;
  heapMb: number;
  cpuSeconds: number;
  sockets: number;
  socketsTo: (port: number) => number;
}

const MiB = 1024 * 1024;

export class PluginProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    readonly port: number,
  ) {}

  static async start(executable: string, engineAddress: string): Promise<PluginProcess> {
    const folder = mkdtempSync(join(tmpdir(), "compute-soak-"));
    // The report names every handle and counts the memory, without anything built into the plugin.
    const reporting = [
      "--report-on-signal",
      "--report-signal=SIGUSR2",
      `--report-directory=${folder}`,
      "--report-filename=report.json",
      "--report-exclude-network",
      "--report-exclude-env",
    ];
    const child = spawn(executable, [engineAddress], {
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...process.env, NODE_OPTIONS: reporting.join(" "), PULUMI_HOME: join(folder, "home") },
    });
    return new PluginProcess(child, folder, Number(await firstLine(child.stdout)));
  }

  async usage(): Promise<Usage> {
    const file = join(this.folder, "report.json");
    rmSync(file, { force: true });
    this.child.kill("SIGUSR2");
    const { javascriptHeap, resourceUsage, libuv } = await written(file);
    const sockets = libuv.filter(({ type, is_active }) => type === "tcp" && is_active);
    return {
      rssMb: resourceUsage.rss / MiB,
      heapMb: javascriptHeap.usedMemory / MiB,
      cpuSeconds: resourceUsage.userCpuSeconds + resourceUsage.kernelCpuSeconds,
      sockets: sockets.length,
      socketsTo: (port) => sockets.filter((it) => it.remoteEndpoint?.port === port).length,
    };
  }

  /** As when the engine dies: its end of stdin is closed. False if the plugin stays all the same. */
  async endsWithItsEngine(withinMs: number): Promise<boolean> {
    const ended = once(this.child, "exit").then(() => true);
    this.child.stdin?.end();
    return Promise.race([ended, wait(withinMs, false, { ref: false })]);
  }

  stop(): void {
    this.child.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A report is there once it is whole. */
async function written(file: string): Promise<z.infer<typeof report>> {
  for (let look = 0; look < 500; look++) {
    await wait(20);
    try {
      return report.parse(JSON.parse(readFileSync(file, "utf8")));
    } catch {
      // Not there yet, or not whole.
    }
  }
  throw new ToolError("the plugin writes no report: has it ended?");
}
