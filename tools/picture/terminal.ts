/** A real terminal, on no screen: tmux. */
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ToolError } from "../support/main";
import { parseScreen, textOf } from "./ansi";
import type { Frame } from "./svg";
import { isMissing } from "../support/errors";

export interface TerminalOptions {
  /** tmux's own, so that nobody's sessions and settings come in. */
  socket: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  columns: number;
  rows: number;
  signal: AbortSignal;
}

const prompt = "$";
/** With colour, as most people have it. */
const ps1 = `\x1b[32m${prompt}\x1b[39m `;
const lookEvery = 60;
const patience = 120_000;
const patienceAfterInterrupt = 15_000;

export class Terminal implements AsyncDisposable {
  private busy = false;

  private constructor(private readonly options: TerminalOptions) {}

  static async open(options: TerminalOptions): Promise<Terminal> {
    const terminal = new Terminal(options);
    const size = ["-x", `${options.columns}`, "-y", `${options.rows}`];
    await terminal.tmux("new-session", "-d", ...size, "-c", options.cwd, "env", `PS1=${ps1}`, "sh");
    await terminal.record((lines) => lines.length === 1 && lines[0] === prompt);
    return terminal;
  }

  /** Types a command, and gives every screen from there to the next prompt, without that prompt. */
  async run(command: string): Promise<Frame[]> {
    await this.tmux("send-keys", "-l", command);
    const typed = await this.record((lines) => lines.at(-1)?.endsWith(command) === true);
    this.busy = true;
    await this.tmux("send-keys", "Enter");
    const shown = await this.record((lines) => lines.length > 1 && lines.at(-1) === prompt);
    this.busy = false;
    const frames = [...typed.slice(-1), ...shown];
    const start = frames[0]?.at ?? 0;
    return frames.map(({ screen, at }, index) => ({
      screen: index === frames.length - 1 ? withoutLastLine(screen) : screen,
      at: (at - start) / 1000,
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.busy) await this.interrupt();
    await this.tmux("kill-server").catch(() => "it has ended already");
  }

  /** Ctrl-C, and time to answer it: Pulumi, when just killed, leaves processes of its own behind. */
  private async interrupt(): Promise<void> {
    await this.tmux("send-keys", "C-c");
    for (let waited = 0; waited < patienceAfterInterrupt; waited += lookEvery) {
      if (linesOf(await this.capture()).at(-1) === prompt) return;
      await sleep(lookEvery);
    }
  }

  /** Every screen that stood still for a moment (others may be half-drawn), until one is the last. */
  private async record(isLast: (lines: readonly string[]) => boolean): Promise<Frame[]> {
    const frames: Frame[] = [];
    const start = Date.now();
    let before: string | undefined;
    for (;;) {
      const screen = await this.capture();
      const at = Date.now();
      if (screen === before && screen !== frames.at(-1)?.screen) {
        frames.push({ screen, at });
        if (isLast(linesOf(screen))) return frames;
      }
      if (at - start > patience) {
        throw new ToolError(`No prompt after ${patience / 1000} s. The terminal shows:\n${screen}`);
      }
      before = screen;
      await sleep(lookEvery);
      this.options.signal.throwIfAborted();
    }
  }

  private async capture(): Promise<string> {
    return (await this.tmux("capture-pane", "-e", "-p")).trimEnd();
  }

  private async tmux(...args: readonly string[]): Promise<string> {
    const { socket, env } = this.options;
    try {
      const all = ["-u", "-S", socket, "-f", "/dev/null", ...args];
      return (await promisify(execFile)("tmux", all, { env })).stdout;
    } catch (error) {
      if (!isMissing(error)) throw error;
      throw new ToolError(
        "The picture is taken of a terminal that tmux runs, and there is no tmux on PATH. Install it: apt-get install tmux, dnf install tmux, brew install tmux",
      );
    }
  }
}

function linesOf(screen: string): string[] {
  return parseScreen(screen).map((runs) => textOf(runs).trimEnd());
}

function withoutLastLine(screen: string): string {
  return screen.slice(0, screen.lastIndexOf("\n")).trimEnd();
}
