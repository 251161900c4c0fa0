/** A scene of a picture: a copy of an example with a stack of its own, an emulator, and a terminal (tmux). */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify, stripVTControlCharacters } from "node:util";
import { startEmulator } from "../../emulator";
import { installPlugin } from "../build";
import { captured } from "../support/command";
import { writeWhole } from "../support/files";
import { say, ToolError } from "../support/main";
import { ownPulumi } from "../support/ownPulumi";
import { root } from "../support/paths";
import { ensurePythonTools } from "../support/python";
import type { Toolchain } from "../toolchain";

const columns = 104;
const token = "sk_test_picture";
const prompt = "$";
const ps1 = `\\[\x1b[32m\\]${prompt}\\[\x1b[39m\\] `;
/** It gives the terminal back its settings after a command that was killed, which `sh` does not. */
const shell = ["bash", "--norc", "--noprofile"];
const captureEveryMs = 60;
export const timeoutMs = 120_000;
/** A moving picture stops no longer than this at a screen that does not change, but for the last one. */
const longestStillMs = 1000;
const lastStillMs = 5000;

/** A signal ends the run early, after it has closed and deleted everything it opened. */
export const interruption = new AbortController();

/** A screen, as `tmux capture-pane -e` prints it, and for how long a picture shows it. */
interface Frame {
  screen: string;
  milliseconds: number;
}

/** A command, and what it prints if it does what the picture shows. */
interface Step {
  line: string;
  outcome: string;
  /** The command is killed with SIGKILL a second after its screen has shown this. */
  killedAt?: RegExp;
}

/** Makes a Pulumi home, a state and an emulator for a copy of an example. */
export async function openScene(
  toolchain: Toolchain,
  example: string,
  provisioningSeconds: (name: string) => number,
): Promise<Scene> {
  await using resources = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "pulumi-compute-picture-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const project = join(folder, "examples", example);
  // Without the settings of a developer's own stacks.
  const filter = (path: string) => !/Pulumi\..+\.yaml$/.test(path);
  cpSync(join(root, "examples", example), project, { recursive: true, filter });
  for (const name of ["node_modules", "sdk"]) {
    symlinkSync(join(root, name), join(folder, name));
  }
  installPlugin(join(folder, "home"));
  const emulator = resources.use(
    await startEmulator({ provisioningSeconds, controlEndpoints: true }),
  );
  // NO_COLOR, CI and PULUMI_* of this process would change the picture.
  const env = {
    PATH: toolchain.env()["PATH"],
    HOME: homedir(),
    HISTFILE: "/dev/null",
    ...ownPulumi(folder),
    COMPUTE_BASE_URL: emulator.url,
    COMPUTE_API_TOKEN: token,
  };
  return new Scene({ project, folder, env, origin: emulator.origin, resources: resources.move() });
}

/** An example with its own emulator, whose commands are drawn. */
class Scene {
  /** The folder of the example's copy. */
  readonly project: string;
  readonly env: NodeJS.ProcessEnv;
  /** The address of the emulator. */
  readonly origin: string;
  /** What no picture may show. */
  readonly #secrets: readonly string[];
  readonly #resources: AsyncDisposableStack;

  constructor(parts: {
    project: string;
    folder: string;
    env: NodeJS.ProcessEnv;
    origin: string;
    resources: AsyncDisposableStack;
  }) {
    this.project = parts.project;
    this.env = parts.env;
    this.origin = parts.origin;
    const here = [root, homedir(), tmpdir(), hostname()];
    this.#secrets = [token, parts.folder, parts.origin, ...here];
    this.#resources = parts.resources;
  }

  /** @throws {ToolError} if `text` has a secret or a fact about this machine */
  writeFile(name: string, content: string | Uint8Array, text: string): void {
    const exposed = this.#secrets.find((secret) => secret.length > 1 && text.includes(secret));
    if (exposed !== undefined)
      throw new ToolError(`The picture ${name} would show "${exposed}", so it was not written.`);
    writeWhole(join(root, "docs", name), content);
    say(`docs/${name}  ${Math.ceil(content.length / 1024)} kB`);
  }

  /**
   * Draws the screen after these commands. With `movesIn`, draws all screens from the first command on, in a
   * terminal of so many rows.
   * @throws {ToolError} if a command does not print its outcome
   */
  async draw(
    name: string,
    heading: string,
    steps: readonly Step[],
    { movesIn }: { movesIn?: number } = {},
  ): Promise<void> {
    await using terminal = await openTerminal(this.project, this.env, movesIn ?? 80);
    let screen = "";
    for (const step of steps) {
      screen = await terminal.run(step);
      const text = stripVTControlCharacters(screen);
      if (!text.includes(step.outcome) || text.includes("error:")) {
        throw new ToolError(
          `\`${step.line}\` did not print "${step.outcome}", or printed an error:\n${text}`,
        );
      }
    }
    const last = { screen, milliseconds: lastStillMs };
    const home = this.env["PULUMI_HOME"] ?? "";
    // The Pulumi home is shown where a person has it, and the emulator at the port of `npm run emulator`.
    const shown = (text: string) =>
      text.replaceAll(home, "~/.pulumi").replaceAll(this.origin, "http://127.0.0.1:8420");
    const frames = (movesIn ? [...terminal.frames(), last] : [last]).map((frame) => ({
      ...frame,
      screen: shown(frame.screen),
    }));
    const text = frames.map((frame) => stripVTControlCharacters(frame.screen)).join("\n");
    this.writeFile(name, await svgOf(frames, heading), text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }
}

/** tmux is a terminal without a screen. It has its own socket and no settings file. */
async function openTerminal(cwd: string, env: NodeJS.ProcessEnv, rows: number) {
  // An earlier terminal may still be closing its socket.
  const socket = join(mkdtempSync(join(cwd, ".tmux-")), "socket");
  const tmux = (...args: readonly string[]) =>
    captured("tmux", ["-u", "-S", socket, "-f", "/dev/null", ...args], { env });

  const screens: { screen: string; at: number }[] = [];

  /** Returns the first screen that `isAwaited` accepts. Only one that is captured twice in a row is not half-drawn. */
  const capture = async (isAwaited: (lines: readonly string[]) => boolean): Promise<string> => {
    const start = Date.now();
    for (let previous: string | undefined; ; await sleep(captureEveryMs)) {
      const screen = (await tmux("capture-pane", "-e", "-p")).trimEnd();
      const lines = stripVTControlCharacters(screen).split("\n");
      if (screen === previous && screen !== screens.at(-1)?.screen)
        screens.push({ screen, at: Date.now() });
      if (screen === previous && isAwaited(lines.map((line) => line.trimEnd()))) return screen;
      if (Date.now() - start > timeoutMs) {
        throw new ToolError(`No prompt after ${timeoutMs / 1000} s. The screen:\n${screen}`);
      }
      interruption.signal.throwIfAborted();
      previous = screen;
    }
  };

  const size = ["-x", `${columns}`, "-y", `${rows}`];
  await tmux("new-session", "-d", ...size, "-c", cwd, "env", `PS1=${ps1}`, ...shell);
  await capture((lines) => lines.length === 1 && lines[0] === prompt);
  return {
    /** Returns the screen after the command, without the prompt that follows it. */
    async run({ line, killedAt }: Step): Promise<string> {
      await tmux("send-keys", "-l", line);
      await capture((lines) => lines.at(-1)?.endsWith(line) === true);
      await tmux("send-keys", "Enter");
      if (killedAt !== undefined) {
        await capture((lines) => killedAt.test(lines.join("\n")));
        await sleep(1000);
        await killChildren(Number(await tmux("display-message", "-p", "#{pane_pid}")));
      }
      const screen = await capture((lines) => lines.length > 1 && lines.at(-1) === prompt);
      return screen.slice(0, screen.lastIndexOf("\n")).trimEnd();
    },
    /** All screens until now. */
    frames(): Frame[] {
      return screens.map(({ screen, at }, index) => {
        const milliseconds = (screens[index + 1]?.at ?? at + longestStillMs) - at;
        return { screen, milliseconds: Math.min(milliseconds, longestStillMs) };
      });
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await tmux("kill-server").catch(() => "it has ended already");
    },
  };
}

/** Kills the programs that a shell has started, as `kill -9` in another terminal does. */
async function killChildren(shellPid: number): Promise<void> {
  const table = await captured("ps", ["-A", "-o", "pid=,ppid="], {});
  for (const [, pid, parent] of table.matchAll(/(\d+) +(\d+)/g))
    if (Number(parent) === shellPid) process.kill(Number(pid), "SIGKILL");
}

/** Draws one screen, or a picture that moves. */
async function svgOf(frames: readonly Frame[], heading: string): Promise<string> {
  const python = join(await ensurePythonTools("pictures"), "python");
  const script = join(root, "tools", "pictures", "svg.py");
  const child = promisify(execFile)(python, [script, `${columns}`, heading], {
    maxBuffer: 1e8,
  });
  child.child.stdin?.end(JSON.stringify(frames));
  return (await child).stdout;
}
