/** Where the pictures are taken: a copy of an example, with a home, state and service of its own. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulator } from "../../emulator";
import { captured } from "../support/command";
import { ToolError } from "../support/main";
import { ownPulumi } from "../support/ownPulumi";
import { root } from "../support/paths";
import { type Toolchain } from "../toolchain";
import { Terminal } from "./terminal";

const token = "sk_test_picture";

export interface SceneOptions {
  /** A folder of examples/. */
  example: string;
  /** One to be there at the start. */
  stack?: string;
  toolchain: Toolchain;
  columns: number;
  signal: AbortSignal;
}

export interface Scene extends AsyncDisposable {
  openTerminal(): Promise<Terminal>;
  /** Edits the program as a person would. */
  edit(from: string, to: string): void;
  /** Throws if the text names this machine, or has the token. */
  checkPublic(text: string): void;
}

export async function setScene(options: SceneOptions): Promise<Scene> {
  const { example, stack, toolchain, columns, signal } = options;
  await using stage = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "pulumi-compute-picture-"));
  stage.defer(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const project = join(folder, "examples", example);
  const source = join(root, "examples", example);
  // Settings of stacks belong to the person whose stacks they are.
  cpSync(source, project, { recursive: true, filter: (path) => !/Pulumi\..+\.yaml$/.test(path) });
  for (const name of ["node_modules", "bin", "sdk"])
    symlinkSync(join(root, name), join(folder, name));

  // Not much alike, so that one is seen to be ready before the other.
  const emulator = stage.use(
    await startEmulator({ provisioningSeconds: (name) => (name.startsWith("web-1") ? 4.2 : 6.4) }),
  );
  // Little of our own environment: NO_COLOR, CI and PULUMI_* would show in the picture.
  const env = {
    PATH: toolchain.env()["PATH"],
    HOME: homedir(),
    HISTFILE: "/dev/null",
    ...ownPulumi(folder),
    COMPUTE_BASE_URL: emulator.url,
    COMPUTE_API_TOKEN: token,
  };
  if (stack !== undefined) {
    const args = ["stack", "init", stack, "--non-interactive"];
    await captured(toolchain.pulumi, args, { cwd: project, env });
  }

  const kept = stage.move();
  let terminals = 0;
  return {
    openTerminal: async () => {
      terminals += 1;
      const socket = join(folder, `tmux-${terminals}`);
      return Terminal.open({ socket, cwd: project, env, columns, rows: 80, signal });
    },
    edit: (from, to) => {
      const program = join(project, "index.ts");
      const before = readFileSync(program, "utf8");
      const after = before.replaceAll(from, to);
      if (after === before)
        throw new ToolError(`There is no ${from} in examples/${example}/index.ts`);
      writeFileSync(program, after);
    },
    checkPublic: (text) => {
      const secrets = [token, folder, root, homedir(), tmpdir(), hostname(), emulator.origin];
      const found = secrets.find((secret) => secret.length > 1 && text.includes(secret));
      if (found !== undefined) throw new ToolError(`The picture would show ${found}`);
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
