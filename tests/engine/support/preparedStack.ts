/**
 * Makes the empty stack `dev` of the project `proj` once, with `pulumi stack init`, so that tests can copy it. The
 * command takes most of a second, and nearly every test needs such a stack.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownPulumi } from "../../../tools/support/ownPulumi";
import { encryptionSalt, passphrase } from "./engineLogs";

/** The environment variable with the folder of the prepared stack. */
const folderVariable = "COMPUTE_TEST_STACK";

/** Makes the prepared stack with this Pulumi, unless the stack exists already. */
export function prepareStack(pulumi: string, path: string | undefined): void {
  if (preparedStack() !== undefined) return;
  const folder = mkdtempSync(join(tmpdir(), "compute-prepared-"));
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "Pulumi.yaml"), "name: proj\nruntime: yaml\n");
  writeFileSync(join(project, "Pulumi.dev.yaml"), `encryptionsalt: ${encryptionSalt}\n`);
  execFileSync(pulumi, ["stack", "init", "dev", "--non-interactive"], {
    cwd: project,
    env: { PATH: path, HOME: folder, ...ownPulumi(folder), PULUMI_CONFIG_PASSPHRASE: passphrase },
    stdio: ["ignore", "ignore", "pipe"],
  });
  // If this engine stores the selected stack elsewhere, the stack can't be copied, and each test makes a new one.
  if (existsSync(selectionOf(folder))) process.env[folderVariable] = folder;
}

/** Returns the folder of the prepared stack. Undefined if there is none. */
export const preparedStack = (): string | undefined => process.env[folderVariable];

/** Copies the prepared stack into a folder with `home`, `state` and `project`. Returns false if there is none. */
export function copyPreparedStack(folder: string): boolean {
  const prepared = preparedStack();
  if (prepared === undefined) return false;
  cpSync(join(prepared, "state"), join(folder, "state"), { recursive: true });
  mkdirSync(join(folder, "home", "workspaces"), { recursive: true });
  const selection = readFileSync(selectionOf(prepared), "utf8");
  writeFileSync(selectionOf(folder), selection.replaceAll(prepared, folder));
  return true;
}

/** Returns the path of the file in which the engine stores the selected stack of a project. */
function selectionOf(folder: string): string {
  const project = join(realpathSync(folder), "project", "Pulumi.yaml");
  const hash = createHash("sha1").update(project).digest("hex");
  return join(folder, "home", "workspaces", `proj-${hash}-workspace.json`);
}
