/**
 * `npm run picture`: the pictures of the pages, taken of real runs in a real terminal, against the
 * emulator, in stacks of their own that are gone afterwards. Needs tmux.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startEmulator } from "../emulator";
import { ensureBuilt, ensureSdkBuilt } from "./build";
import { drawPicture, textOf, type Frame, type Picture } from "./picture/svg";
import { captured } from "./support/command";
import { writeWhole } from "./support/files";
import { runTool, say, ToolError } from "./support/main";
import { ownPulumi } from "./support/ownPulumi";
import { root } from "./support/paths";
import { ensureToolchain, type Toolchain } from "./toolchain";

const columns = 104;
const frameCount = 8;
const token = "sk_test_picture";
const prompt = "$";
/** With colour, as most people have it. */
const ps1 = `\x1b[32m${prompt}\x1b[39m `;
const lookEveryMs = 60;
const patienceMs = 120_000;

/** Ends the waiting, so that what was opened is closed and deleted. */
const interruption = new AbortController();

async function main(): Promise<void> {
  const interrupted = new ToolError("Interrupted; the pictures are as they were.");
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => interruption.abort(interrupted));
  }
  const toolchain = await ensureToolchain({ languages: ["nodejs"] });
  await ensureBuilt();
  await ensureSdkBuilt();
  await ofAnInstance(toolchain);
  await ofAReview(toolchain);
}

async function ofAnInstance(toolchain: Toolchain): Promise<void> {
  await using scene = await Scene.set(toolchain, "instance");
  const init = ["stack", "init", "dev", "--non-interactive"];
  await captured(toolchain.pulumi, init, { cwd: scene.project, env: scene.env });
  say("Taking the picture of `pulumi up` (about 15 seconds) …");
  const up = await scene.shoot([["pulumi up --yes --skip-preview", "created"]]);
  // Edited as a person would. Without the outputs, which are all to be known later.
  const program = join(scene.project, "index.ts");
  const edited = readFileSync(program, "utf8").replaceAll('"standard-2"', '"standard-4"');
  writeFileSync(program, edited);
  const replacement = await scene.shoot([["pulumi preview --suppress-outputs", "to replace"]]);

  scene.write("pulumi-up.svg", {
    heading: "examples/instance — pulumi up",
    title: "pulumi up in a terminal",
    description:
      "Pulumi creates a stack and two instances, waits until both run, and prints their IPv4 addresses, names and networks.",
    frames: pickFrames(up),
  });
  scene.write("pulumi-preview-replace.svg", {
    heading: "examples/instance — after changing flavorId",
    title: "pulumi preview of a replacement in a terminal",
    description:
      "After a change of flavorId, the preview plans to replace both instances, and warns that the instances of before stay at the service.",
    frames: replacement.slice(-1),
  });
}

async function ofAReview(toolchain: Toolchain): Promise<void> {
  await using scene = await Scene.set(toolchain, "automation");
  say("Taking the picture of a review environment (about 30 seconds) …");
  const life = await scene.shoot([
    ["node main.ts up 42 --hours 8 --servers 2", '"names"'],
    ["node main.ts list", '"end"'],
    ["node main.ts down 42", "delete web-2 done"],
    ["node main.ts list", "[]"],
  ]);
  scene.write("review-stack.svg", {
    heading: "examples/automation — the life of a review environment",
    title: "A review environment's life in a terminal",
    description:
      "One command brings up two servers for pull request 42 and prints their names and addresses, one lists the environment with the time of its end, and one destroys it; then the list is empty.",
    frames: pickFrames(life),
  });
}

/** A copy of an example, with a home, state, service and terminal of its own. */
class Scene implements AsyncDisposable {
  private constructor(
    readonly project: string,
    readonly env: NodeJS.ProcessEnv,
    /** Not to be seen in a picture, beside what is of this machine. */
    private readonly secrets: readonly string[],
    private readonly stage: AsyncDisposableStack,
  ) {}

  static async set(toolchain: Toolchain, example: string): Promise<Scene> {
    await using stage = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), "pulumi-compute-picture-"));
    stage.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
    const project = join(folder, "examples", example);
    // Settings of stacks belong to the person whose stacks they are.
    const filter = (path: string) => !/Pulumi\..+\.yaml$/.test(path);
    cpSync(join(root, "examples", example), project, { recursive: true, filter });
    for (const name of ["node_modules", "bin", "sdk"]) {
      symlinkSync(join(root, name), join(folder, name));
    }
    // Not much alike, so that one is seen to be ready before the other.
    const provisioningSeconds = (name: string) => (name.startsWith("web-1") ? 4.2 : 6.4);
    const emulator = stage.use(await startEmulator({ provisioningSeconds }));
    // Little of our own environment: NO_COLOR, CI and PULUMI_* would show in the picture.
    const env = {
      ...{ PATH: toolchain.env()["PATH"], HOME: homedir(), HISTFILE: "/dev/null" },
      ...ownPulumi(folder),
      ...{ COMPUTE_BASE_URL: emulator.url, COMPUTE_API_TOKEN: token },
    };
    return new Scene(project, env, [token, folder, emulator.origin], stage.move());
  }

  /** Commands in one terminal, each with what its outcome shows: every screen, without the last prompt. */
  async shoot(commands: readonly (readonly [line: string, outcome: string])[]): Promise<Frame[]> {
    await using terminal = await Terminal.open(this.project, this.env);
    const frames: Frame[] = [];
    for (const [line, outcome] of commands) {
      const start = frames.at(-1)?.at ?? 0;
      const shown = await terminal.run(line);
      const text = textOf(shown.at(-1)?.screen ?? "");
      if (!text.includes(outcome) || text.includes("error:")) {
        throw new ToolError(`\`${line}\` did not go as it should:\n${text}`);
      }
      frames.push(...shown.map(({ screen, at }) => ({ screen, at: start + at })));
    }
    return frames;
  }

  write(name: string, picture: Omit<Picture, "columns">): void {
    const svg = drawPicture({ columns, ...picture });
    const secrets = [...this.secrets, root, homedir(), tmpdir(), hostname()];
    const found = secrets.find((secret) => secret.length > 1 && svg.includes(secret));
    if (found !== undefined) throw new ToolError(`The picture would show ${found}`);
    writeWhole(join(root, "docs", name), svg);
    say(`docs/${name}  ${Math.ceil(svg.length / 1024)} kB`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stage.disposeAsync();
  }
}

/** A real terminal, on no screen: tmux, on a socket of its own, so that nobody's settings come in. */
class Terminal implements AsyncDisposable {
  private constructor(
    private readonly cwd: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  static async open(cwd: string, env: NodeJS.ProcessEnv): Promise<Terminal> {
    const terminal = new Terminal(cwd, env);
    const size = ["-x", `${columns}`, "-y", "80"];
    await terminal.tmux("new-session", "-d", ...size, "-c", cwd, "env", `PS1=${ps1}`, "sh");
    await terminal.record((lines) => lines.length === 1 && lines[0] === prompt);
    return terminal;
  }

  async run(command: string): Promise<Frame[]> {
    await this.tmux("send-keys", "-l", command);
    const typed = await this.record((lines) => lines.at(-1)?.endsWith(command) === true);
    await this.tmux("send-keys", "Enter");
    const shown = await this.record((lines) => lines.length > 1 && lines.at(-1) === prompt);
    const frames = [...typed.slice(-1), ...shown];
    const start = frames[0]?.at ?? 0;
    const last = frames.at(-1);
    if (last) last.screen = last.screen.slice(0, last.screen.lastIndexOf("\n")).trimEnd();
    return frames.map(({ screen, at }) => ({ screen, at: (at - start) / 1000 }));
  }

  /** Every screen that stood still for a moment (others may be half-drawn), until one is the last. */
  private async record(isLast: (lines: readonly string[]) => boolean): Promise<Frame[]> {
    const frames: Frame[] = [];
    const start = Date.now();
    for (let before: string | undefined; ; await sleep(lookEveryMs)) {
      const screen = (await this.tmux("capture-pane", "-e", "-p")).trimEnd();
      const at = Date.now();
      if (screen === before && screen !== frames.at(-1)?.screen) {
        frames.push({ screen, at });
        const lines = textOf(screen).split("\n");
        if (isLast(lines.map((line) => line.trimEnd()))) return frames;
      }
      if (at - start > patienceMs) {
        throw new ToolError(`No prompt after ${patienceMs / 1000} s. There is:\n${screen}`);
      }
      interruption.signal.throwIfAborted();
      before = screen;
    }
  }

  private tmux(...args: readonly string[]): Promise<string> {
    const own = ["-u", "-S", join(this.cwd, ".tmux"), "-f", "/dev/null"];
    return captured("tmux", [...own, ...args], { env: this.env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tmux("kill-server").catch(() => "it has ended already");
  }
}

/** The first and the last frame, and those in between that are spread best over the time. */
function pickFrames(frames: readonly Frame[]): Frame[] {
  const end = frames.at(-1)?.at ?? 0;
  const picked = new Set<Frame>();
  for (let index = 0; index < frameCount; index += 1) {
    const wanted = (end * index) / (frameCount - 1);
    const nearest = frames.toSorted((a, b) => Math.abs(a.at - wanted) - Math.abs(b.at - wanted))[0];
    if (nearest) picked.add(nearest);
  }
  return [...picked];
}

runTool({}, main);
