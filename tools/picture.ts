/**
 * `npm run picture`: draws the pictures in docs/ from real runs in a real terminal (tmux, which must be installed)
 * against the emulator, and one of the emulator's page, where Chromium runs.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startEmulator } from "../emulator";
import { ensureBuilt, ensureSdkBuilt, installPlugin } from "./build";
import { missingChromium, startChromium } from "./npm/chromium";
import { drawPicture, plainText, type Frame, type Picture } from "./picture/svg";
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
const ps1 = `\x1b[32m${prompt}\x1b[39m `;
const captureEveryMs = 60;
const timeoutMs = 120_000;

/** A signal ends the run early, after it has closed and deleted everything it opened. */
const interruption = new AbortController();

async function main(): Promise<void> {
  const interrupted = new ToolError("Interrupted; the pictures are as they were.");
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => interruption.abort(interrupted));
  }
  const toolchain = await ensureToolchain({ languages: ["nodejs"] });
  await ensureBuilt();
  await ensureSdkBuilt();
  await drawInstance(toolchain);
  await drawReviewEnvironment(toolchain);
  await drawEmulatorPage(toolchain);
}

async function drawInstance(toolchain: Toolchain): Promise<void> {
  await using scene = await openScene(toolchain, "instance");
  const init = ["stack", "init", "dev", "--non-interactive"];
  await captured(toolchain.pulumi, init, { cwd: scene.project, env: scene.env });
  say("Drawing the picture of `pulumi up` (about 15 seconds) …");
  const up = await scene.record([["pulumi up --yes --skip-preview", "created"]]);
  // The outputs of this preview are all unknown, so they are left out.
  const program = join(scene.project, "index.ts");
  const edited = readFileSync(program, "utf8").replaceAll('"standard-2"', '"standard-4"');
  writeFileSync(program, edited);
  const replacement = await scene.record([["pulumi preview --suppress-outputs", "to replace"]]);

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

async function drawReviewEnvironment(toolchain: Toolchain): Promise<void> {
  await using scene = await openScene(toolchain, "automation");
  say("Drawing the picture of a review environment (about 30 seconds) …");
  const life = await scene.record([
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

/** Draws the page during a 429 storm, when one of two instances is ready. */
async function drawEmulatorPage(toolchain: Toolchain): Promise<void> {
  const missing = missingChromium();
  if (missing !== undefined) {
    say(`docs/emulator-page.png was not drawn: ${missing}.`);
    return;
  }
  say("Drawing the picture of the emulator's page (about 20 seconds) …");
  await using scene = await openScene(toolchain, "instance");
  const pulumi = (...args: string[]) =>
    captured(toolchain.pulumi, args, { cwd: scene.project, env: scene.env });
  await pulumi("stack", "init", "dev", "--non-interactive");
  await using chromium = await startChromium();
  const page = await chromium.newPage();
  page.setDefaultTimeout(timeoutMs);
  await page.setViewport({ width: 1400, height: 640 });
  await page.goto(scene.origin);
  const draw = async () => {
    const storm = "#faults > button:first-child";
    await page.waitForSelector("#instances:has(.ACTIVE):has(.PROVISIONING)");
    await page.click(storm);
    await page.waitForSelector("#requests .bad");
    // The port of `npm run emulator`: the same picture each time.
    const address = "http://127.0.0.1:8420/v2";
    await page.evaluate(`document.querySelector("#address").textContent = "${address}"`);
    const text = String(await page.evaluate("document.body.innerText"));
    scene.writeFile("emulator-page.png", await page.screenshot(), text);
    await page.click(storm);
  };
  await Promise.all([pulumi("up", "--yes", "--skip-preview", "--non-interactive"), draw()]);
}

/** Makes a Pulumi home, a state and an emulator for a copy of an example. */
async function openScene(toolchain: Toolchain, example: string) {
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
  // The picture shows that they become ready one after the other.
  const provisioningSeconds = (name: string) => (name.startsWith("web-1") ? 4.2 : 6.4);
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
  const secrets = [token, folder, emulator.origin, root, homedir(), tmpdir(), hostname()];
  const openResources = resources.move();

  /** @throws {ToolError} if `text` has a secret or a fact about this machine */
  const writeFile = (name: string, content: string | Uint8Array, text: string) => {
    const exposed = secrets.find((secret) => secret.length > 1 && text.includes(secret));
    if (exposed !== undefined)
      throw new ToolError(`The picture ${name} would show "${exposed}", so it was not written.`);
    writeWhole(join(root, "docs", name), content);
    say(`docs/${name}  ${Math.ceil(content.length / 1024)} kB`);
  };

  return {
    project,
    env,
    origin: emulator.origin,
    writeFile,
    /** Returns all screens. @throws {ToolError} if a command does not print its `outcome` */
    async record(commands: readonly (readonly [line: string, outcome: string])[]) {
      await using terminal = await openTerminal(project, env);
      const frames: Frame[] = [];
      for (const [line, outcome] of commands) {
        const start = frames.at(-1)?.at ?? 0;
        const shown = await terminal.run(line);
        const text = plainText(shown.at(-1)?.screen ?? "");
        if (!text.includes(outcome) || text.includes("error:")) {
          throw new ToolError(
            `\`${line}\` did not print "${outcome}", or printed an error:\n${text}`,
          );
        }
        frames.push(...shown.map(({ screen, at }) => ({ screen, at: start + at })));
      }
      return frames;
    },
    write(name: string, picture: Omit<Picture, "columns">) {
      const svg = drawPicture({ columns, ...picture });
      writeFile(name, svg, svg);
    },
    [Symbol.asyncDispose]: () => openResources.disposeAsync(),
  };
}

/** tmux is a terminal without a screen. It has its own socket and no settings file. */
async function openTerminal(cwd: string, env: NodeJS.ProcessEnv) {
  const tmux = (...args: readonly string[]) =>
    captured("tmux", ["-u", "-S", join(cwd, ".tmux"), "-f", "/dev/null", ...args], { env });

  /** Captures screens until `isLast` accepts one. Only one that is captured twice in a row is not half-drawn. */
  const capture = async (isLast: (lines: readonly string[]) => boolean): Promise<Frame[]> => {
    const frames: Frame[] = [];
    const start = Date.now();
    for (let previous: string | undefined; ; await sleep(captureEveryMs)) {
      const screen = (await tmux("capture-pane", "-e", "-p")).trimEnd();
      const at = Date.now();
      if (screen === previous && screen !== frames.at(-1)?.screen) {
        frames.push({ screen, at });
        const lines = plainText(screen).split("\n");
        if (isLast(lines.map((line) => line.trimEnd()))) return frames;
      }
      if (at - start > timeoutMs) {
        throw new ToolError(`No prompt after ${timeoutMs / 1000} s. The screen:\n${screen}`);
      }
      interruption.signal.throwIfAborted();
      previous = screen;
    }
  };

  const size = ["-x", `${columns}`, "-y", "80"];
  await tmux("new-session", "-d", ...size, "-c", cwd, "env", `PS1=${ps1}`, "sh");
  await capture((lines) => lines.length === 1 && lines[0] === prompt);
  return {
    /** Returns the screens of one command, without the prompt after it. */
    async run(command: string): Promise<Frame[]> {
      await tmux("send-keys", "-l", command);
      const typed = await capture((lines) => lines.at(-1)?.endsWith(command) === true);
      await tmux("send-keys", "Enter");
      const shown = await capture((lines) => lines.length > 1 && lines.at(-1) === prompt);
      const frames = [...typed.slice(-1), ...shown];
      const start = frames[0]?.at ?? 0;
      const last = frames.at(-1);
      if (last) last.screen = last.screen.slice(0, last.screen.lastIndexOf("\n")).trimEnd();
      return frames.map(({ screen, at }) => ({ screen, at: (at - start) / 1000 }));
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await tmux("kill-server").catch(() => "it has ended already");
    },
  };
}

/** Picks the first, the last, and some between at about equal intervals. */
function pickFrames(frames: readonly Frame[]): Frame[] {
  const end = frames.at(-1)?.at ?? 0;
  const picked = Array.from({ length: frameCount }, (_, index) => {
    const distance = ({ at }: Frame) => Math.abs(at - (end * index) / (frameCount - 1));
    return frames.toSorted((a, b) => distance(a) - distance(b)).slice(0, 1);
  });
  return [...new Set(picked.flat())];
}

runTool({}, main);
