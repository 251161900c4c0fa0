/** The emulator as a process of its own, with its control API. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ControlClient } from "../../emulator/control/client";
import { firstLine } from "./firstLine";
import { root } from "./paths";

export class EmulatorProcess implements AsyncDisposable {
  readonly control: ControlClient;

  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {
    this.control = new ControlClient(url);
  }

  /** On any free port; `options` as on the command line (`npm run emulator -- --help`). */
  static async start(options: Readonly<Record<string, string | number>>): Promise<EmulatorProcess> {
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    const script = join(root, "tools", "emulator.ts");
    const child = spawn(
      process.execPath,
      ["--import", "tsx", script, "--control", "--port=0", ...args],
      { cwd: root, stdio: ["ignore", "pipe", "inherit"] },
    );
    const url = /http:\S+/.exec(await firstLine(child.stdout))?.[0] ?? "";
    return new EmulatorProcess(child, url);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.child, "exit");
    this.child.kill("SIGTERM");
    await ended;
  }
}
