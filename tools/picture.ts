/**
 * `npm run picture`: the pictures of the pages, taken of real runs in a real terminal, against the
 * emulator, in stacks of their own that are gone afterwards. Needs tmux.
 */
import { join, relative } from "node:path";
import { ensureBuilt, ensureSdkBuilt } from "./build";
import { parseScreen, textOf } from "./picture/ansi";
import { setScene, type Scene, type SceneOptions } from "./picture/scene";
import { drawPicture, type Frame, type Picture } from "./picture/svg";
import { writeWhole } from "./support/files";
import { runTool, say, ToolError } from "./support/main";
import { root } from "./support/paths";
import { ensureToolchain } from "./toolchain";

const columns = 104;
const frameCount = 8;

type Common = Omit<SceneOptions, "example" | "stack">;

async function main(): Promise<void> {
  const toolchain = await ensureToolchain({ languages: ["nodejs"] });
  await ensureBuilt();
  await ensureSdkBuilt();
  const common = { toolchain, columns, signal: interruption() };
  await ofAnInstance(common);
  await ofAReview(common);
}

async function ofAnInstance(common: Common): Promise<void> {
  await using scene = await setScene({ ...common, example: "instance", stack: "dev" });
  say("Taking the picture of `pulumi up` (about 15 seconds) …");
  const up = await shoot(scene, [["pulumi up --yes --skip-preview", "created"]]);
  // Without the outputs, which are all to be known later.
  scene.edit('"standard-2"', '"standard-4"');
  const replacement = await shoot(scene, [["pulumi preview --suppress-outputs", "to replace"]]);

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

async function ofAReview(common: Common): Promise<void> {
  await using scene = await setScene({ ...common, example: "automation" });
  say("Taking the picture of a review environment (about 30 seconds) …");
  const life = await shoot(scene, [
    ["node main.ts up 42 --hours 8 --servers 2", '"names"'],
    ["node main.ts list", '"end"'],
    ["node main.ts down 42", "delete web-2 done"],
    ["node main.ts list", "[]"],
  ]);
  write(scene, "review-stack.svg", {
    heading: "examples/automation — the life of a review environment",
    title: "A review environment's life in a terminal",
    description:
      "One command brings up two servers for pull request 42 and prints their names and addresses, one lists the environment with the time of its end, and one destroys it; then the list is empty.",
    frames: pickFrames(life, frameCount),
  });
}

/** Commands in one terminal, each with what its outcome shows. One that did not go well is not to be seen. */
async function shoot(
  scene: Scene,
  commands: readonly (readonly [line: string, outcome: string])[],
): Promise<Frame[]> {
  await using terminal = await scene.openTerminal();
  const frames: Frame[] = [];
  for (const [line, outcome] of commands) {
    const start = frames.at(-1)?.at ?? 0;
    const shown = await terminal.run(line);
    const text = parseScreen(shown.at(-1)?.screen ?? "")
      .map(textOf)
      .join("\n");
    if (!text.includes(outcome) || text.includes("error:")) {
      throw new ToolError(`\`${line}\` did not go as it should:\n${text}`);
    }
    frames.push(...shown.map(({ screen, at }) => ({ screen, at: start + at })));
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

/** The first and the last frame, and those in between that are spread best over the time. */
function pickFrames(frames: readonly Frame[], count: number): Frame[] {
  const end = frames.at(-1)?.at ?? 0;
  const picked = new Set<Frame>();
  for (let index = 0; index < count; index += 1) {
    const wanted = (end * index) / (count - 1);
    const nearest = frames.toSorted((a, b) => Math.abs(a.at - wanted) - Math.abs(b.at - wanted))[0];
    if (nearest) picked.add(nearest);
  }
  return [...picked];
}

runTool({}, main);
