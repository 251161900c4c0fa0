/**
 * `npm run picture`: the pictures of the README, taken of a real `pulumi up` in a real terminal,
 * against the emulator, in a stack of their own that is gone afterwards. Needs tmux.
 */
import { join, relative } from "node:path";
import { ensureBuilt, ensureSdkBuilt } from "./build";
import { parseScreen, textOf } from "./picture/ansi";
import { pickFrames } from "./picture/pick";
import { setScene, type Scene } from "./picture/scene";
import { drawPicture, type Frame, type Picture } from "./picture/svg";
import { writeWhole } from "./support/files";
import { runTool, say, ToolError } from "./support/main";
import { root } from "./support/paths";
import { ensureToolchain } from "./toolchain";

const columns = 104;
const frameCount = 8;

async function main(): Promise<void> {
  const toolchain = await ensureToolchain({ languages: ["nodejs"] });
  await ensureBuilt();
  await ensureSdkBuilt();

  await using scene = await setScene({ toolchain, columns, signal: interruption() });
  say("Taking the picture of `pulumi up` (about 15 seconds) …");
  const up = await shoot(scene, "pulumi up --yes --skip-preview", "created");
  // Without the outputs, which are all to be known later.
  scene.edit('"standard-2"', '"standard-4"');
  const replacement = await shoot(scene, "pulumi preview --suppress-outputs", "to replace");

  write(scene, "pulumi-up.svg", {
    heading: "examples/instance — pulumi up",
    title: "pulumi up in a terminal",
    description:
      "Pulumi creates a stack and two instances, waits until both run, and prints their IPv4 addresses, names and networks.",
    frames: pickFrames(up, frameCount),
  });
  write(scene, "pulumi-preview-replace.svg", {
    heading: "examples/instance — after changing flavorId",
    title: "pulumi preview of a replacement in a terminal",
    description:
      "After a change of flavorId, the preview plans to replace both instances, and warns that the instances of before stay at the service.",
    frames: replacement.slice(-1),
  });
}

/** A run that did not go well is not to be in the README. */
async function shoot(scene: Scene, command: string, outcome: string): Promise<Frame[]> {
  await using terminal = await scene.openTerminal();
  const frames = await terminal.run(command);
  const text = parseScreen(frames.at(-1)?.screen ?? "")
    .map(textOf)
    .join("\n");
  if (!text.includes(outcome) || text.includes("error:")) {
    throw new ToolError(`\`${command}\` did not go as it should:\n${text}`);
  }
  return frames;
}

function write(scene: Scene, name: string, picture: Omit<Picture, "columns">): void {
  const svg = drawPicture({ columns, ...picture });
  scene.checkPublic(svg);
  const path = join(root, "docs", name);
  writeWhole(path, svg);
  say(`${relative(process.cwd(), path)}  ${Math.ceil(svg.length / 1024)} kB`);
}

/** Ends the waiting, so that what was opened is closed and deleted. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      controller.abort(new ToolError("Interrupted; the pictures are as they were."));
    });
  }
  return controller.signal;
}

runTool(main);
