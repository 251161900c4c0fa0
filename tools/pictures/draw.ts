/**
 * `npx tsx tools/pictures/draw.ts`: draws the pictures in docs/ from real runs in a real terminal (tmux, which must be
 * installed, as must Python 3) against the emulator, and one of the emulator's page, where Chromium runs.
 */
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify, stripVTControlCharacters } from "node:util";
import { startEmulator } from "../../emulator";
import { ensureBuilt, ensureSdkBuilt, installPlugin } from "../build";
import { missingChromium, startChromium } from "../npm/chromium";
import { captured } from "../support/command";
import { writeWhole } from "../support/files";
import { runTool, say, ToolError } from "../support/main";
import { ownPulumi } from "../support/ownPulumi";
import { root } from "../support/paths";
import { ensurePythonTools } from "../support/python";
import { ensureToolchain, type Toolchain } from "../toolchain";

const columns = 104;
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
  const pulumi = (...args: string[]) =>
    captured(toolchain.pulumi, args, { cwd: scene.project, env: scene.env });
  await pulumi("stack", "init", "dev", "--non-interactive");
  await pulumi("config", "set", "count", "1");
  say("Drawing the picture of `pulumi up` (about 15 seconds) …");
  await scene.draw("pulumi-up.svg", "examples/instance — pulumi up", [
    ["pulumi up --yes --skip-preview", "created"],
  ]);
  const program = join(scene.project, "index.ts");
  const edited = readFileSync(program, "utf8").replaceAll('"standard-2"', '"standard-4"');
  writeFileSync(program, edited);
  // The outputs of this preview are all unknown, so they are left out.
  const heading = "examples/instance — after changing flavorId";
  await scene.draw("pulumi-preview-replace.svg", heading, [
    ["pulumi preview --suppress-outputs", "to replace"],
  ]);
}

async function drawReviewEnvironment(toolchain: Toolchain): Promise<void> {
  await using scene = await openScene(toolchain, "automation");
  say("Drawing the picture of a review environment (about 30 seconds) …");
  await scene.draw("review-stack.svg", "examples/automation — the life of a review environment", [
    ["node main.ts up 42 --hours 8 --servers 1", '"names"'],
    ["node main.ts list", '"end"'],
    ["node main.ts down 42", "delete web-1 done"],
    ["node main.ts list", "[]"],
  ]);
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
  await page.setViewport({ width: 1280, height: 720 });
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
    /** Draws the screen after these commands. @throws {ToolError} if one does not print its `outcome` */
    async draw(
      name: string,
      heading: string,
      commands: readonly (readonly [line: string, outcome: string])[],
    ) {
      await using terminal = await openTerminal(project, env);
      let screen = "";
      for (const [line, outcome] of commands) {
        screen = await terminal.run(line);
        const text = stripVTControlCharacters(screen);
        if (!text.includes(outcome) || text.includes("error:")) {
          throw new ToolError(
            `\`${line}\` did not print "${outcome}", or printed an error:\n${text}`,
          );
        }
      }
      writeFile(name, await svgOf(screen, heading), stripVTControlCharacters(screen));
    },
    [Symbol.asyncDispose]: () => openResources.disposeAsync(),
  };
}

/** tmux is a terminal without a screen. It has its own socket and no settings file. */
async function openTerminal(cwd: string, env: NodeJS.ProcessEnv) {
  // An earlier terminal may still be closing its socket.
  const socket = join(mkdtempSync(join(cwd, ".tmux-")), "socket");
  const tmux = (...args: readonly string[]) =>
    captured("tmux", ["-u", "-S", socket, "-f", "/dev/null", ...args], { env });

  /** Returns the first screen that `isAwaited` accepts. Only one that is captured twice in a row is not half-drawn. */
  const capture = async (isAwaited: (lines: readonly string[]) => boolean): Promise<string> => {
    const start = Date.now();
    for (let previous: string | undefined; ; await sleep(captureEveryMs)) {
      const screen = (await tmux("capture-pane", "-e", "-p")).trimEnd();
      const lines = stripVTControlCharacters(screen).split("\n");
      if (screen === previous && isAwaited(lines.map((line) => line.trimEnd()))) return screen;
      if (Date.now() - start > timeoutMs) {
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
    /** Returns the screen after the command, without the prompt that follows it. */
    async run(command: string): Promise<string> {
      await tmux("send-keys", "-l", command);
      await capture((lines) => lines.at(-1)?.endsWith(command) === true);
      await tmux("send-keys", "Enter");
      const screen = await capture((lines) => lines.length > 1 && lines.at(-1) === prompt);
      return screen.slice(0, screen.lastIndexOf("\n")).trimEnd();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await tmux("kill-server").catch(() => "it has ended already");
    },
  };
}

/** Draws the screen, as `tmux capture-pane -e` prints it. */
async function svgOf(screen: string, heading: string): Promise<string> {
  const python = join(await ensurePythonTools("pictures"), "python");
  const script = join(root, "tools", "pictures", "svg.py");
  const child = promisify(execFile)(python, [script, `${columns}`, heading]);
  child.child.stdin?.end(screen);
  return (await child).stdout;
}

runTool({}, main);
