/**
 * The stack `dev` of the project `proj`, empty: made once by `pulumi stack init`, and then copied. The
 * command takes the better part of a second, and nearly every test needs one.
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

/** Names the folder of the one to copy, in the environment of the tests. */
const variable = "COMPUTE_TEST_STACK";

/** Makes the one to copy, with this Pulumi, if there is none yet. */
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
  // Another engine may keep elsewhere which stack is selected: then each test makes its own.
  if (existsSync(selectionOf(folder))) process.env[variable] = folder;
}

/** The folder of the one to copy, where there is one. */
export const preparedStack = (): string | undefined => process.env[variable];

/** Copies it into a folder with `home`, `state` and `project`. Returns whether there is one to copy. */
export function copyPreparedStack(folder: string): boolean {
  const prepared = preparedStack();
  if (prepared === undefined) return false;
  cpSync(join(prepared, "state"), join(folder, "state"), { recursive: true });
  mkdirSync(join(folder, "home", "workspaces"), { recursive: true });
  const selection = readFileSync(selectionOf(prepared), "utf8");
  writeFileSync(selectionOf(folder), selection.replaceAll(prepared, folder));
  return true;
}

/** Where the engine keeps which stack of a project is selected. */
function selectionOf(folder: string): string {
  const project = join(realpathSync(folder), "project", "Pulumi.yaml");
  const hash = createHash("sha1").update(project).digest("hex");
  return join(folder, "home", "workspaces", `proj-${hash}-workspace.json`);
}
