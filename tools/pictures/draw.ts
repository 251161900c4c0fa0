/**
 * `npx tsx tools/pictures/draw.ts`: draws the pictures in docs/ from real runs in a real terminal (tmux, which must be
 * installed, as must Python 3) against the emulator, and one of the emulator's page, where Chromium runs.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pluginRun } from "../../provider/advice";
import { ensureBuilt, ensureSdkBuilt } from "../build";
import { missingChromium, startChromium } from "../npm/chromium";
import { captured } from "../support/command";
import { runTool, say, ToolError } from "../support/main";
import { ensureToolchain, type Toolchain } from "../toolchain";
import { interruption, openScene, timeoutMs } from "./scene";

/** The pictures show that instances become ready one after the other. */
const oneByOne = (name: string) => (name.startsWith("web-1") ? 4.2 : 6.4);

async function main(): Promise<void> {
  const interrupted = new ToolError("Interrupted; the pictures are as they were.");
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => interruption.abort(interrupted));
  }
  const toolchain = await ensureToolchain({ languages: ["nodejs"] });
  await ensureBuilt();
  await ensureSdkBuilt();
  await drawKilledRun(toolchain);
  await drawReplacement(toolchain);
  await drawReviewEnvironment(toolchain);
  await drawEmulatorPage(toolchain);
}

/** Draws a run that is killed while it waits, what puts it right, and the next run, which goes on with the same instance. */
async function drawKilledRun(toolchain: Toolchain): Promise<void> {
  // The second run still waits for the instance.
  await using scene = await openScene(toolchain, "instance", () => 14);
  await initStack(toolchain, scene);
  say("Drawing the moving picture of `pulumi up` (about 30 seconds) …");
  const up = "pulumi up --yes --skip-preview --suppress-outputs";
  const steps = [
    { line: up, outcome: "Killed", killedAt: /PROVISIONING/ },
    { line: "pulumi cancel --yes", outcome: "canceled" },
    { line: `${pluginRun} settle --yes`, outcome: "Nothing is in doubt any more." },
    { line: up, outcome: "updated" },
  ];
  const heading = "examples/instance — pulumi up, killed, put right, and pulumi up again";
  await scene.draw("pulumi-up.svg", heading, steps, { movesIn: 32 });
}

/** Makes a stack whose program makes one instance. Returns what runs Pulumi with it. */
async function initStack(toolchain: Toolchain, scene: { project: string; env: NodeJS.ProcessEnv }) {
  const pulumi = (...args: string[]) =>
    captured(toolchain.pulumi, args, { cwd: scene.project, env: scene.env });
  await pulumi("stack", "init", "dev", "--non-interactive");
  await pulumi("config", "set", "count", "1");
  return pulumi;
}

async function drawReplacement(toolchain: Toolchain): Promise<void> {
  await using scene = await openScene(toolchain, "instance", oneByOne);
  const pulumi = await initStack(toolchain, scene);
  await pulumi("up", "--yes", "--skip-preview", "--non-interactive");
  say("Drawing the picture of a replacement …");
  const program = join(scene.project, "index.ts");
  const edited = readFileSync(program, "utf8").replaceAll('"standard-2"', '"standard-4"');
  writeFileSync(program, edited);
  // The outputs of this preview are all unknown, so they are left out.
  const heading = "examples/instance — after changing flavorId";
  await scene.draw("pulumi-preview-replace.svg", heading, [
    { line: "pulumi preview --suppress-outputs", outcome: "to replace" },
  ]);
}

async function drawReviewEnvironment(toolchain: Toolchain): Promise<void> {
  await using scene = await openScene(toolchain, "automation", oneByOne);
  say("Drawing the picture of a review environment (about 30 seconds) …");
  await scene.draw("review-stack.svg", "examples/automation — the life of a review environment", [
    { line: "node main.ts up 42 --hours 8 --servers 1", outcome: '"names"' },
    { line: "node main.ts list", outcome: '"end"' },
    { line: "node main.ts down 42", outcome: "delete web-1 done" },
    { line: "node main.ts list", outcome: "[]" },
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
  await using scene = await openScene(toolchain, "instance", oneByOne);
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

runTool({}, main);
