/**
 * Makes the empty stack `dev` of the project `proj` once, so that tests can copy it. `pulumi stack init` takes most of a
 * second, and nearly every test needs such a stack.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownPulumi } from "../../../tools/support/ownPulumi";
import { encryptionSalt, passphrase } from "./engineLogs";

/** Makes the prepared stack in this folder with this Pulumi. */
export function prepareStack(folder: string, pulumi: string, path: string | undefined): void {
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "Pulumi.yaml"), "name: proj\nruntime: yaml\n");
  writeFileSync(join(project, "Pulumi.dev.yaml"), `encryptionsalt: ${encryptionSalt}\n`);
  execFileSync(pulumi, ["stack", "init", "dev", "--non-interactive"], {
    cwd: project,
    env: { PATH: path, HOME: folder, ...ownPulumi(folder), PULUMI_CONFIG_PASSPHRASE: passphrase },
    stdio: ["ignore", "ignore", "pipe"],
  });
}

/** Copies the prepared stack into a folder with `home`, `state` and `project`. Returns whether that was possible. */
export function copyPreparedStack(folder: string): boolean {
  const prepared = process.env["COMPUTE_TEST_STACK"] ?? "";
  // An engine that stores the selected stack elsewhere makes a new stack for each test.
  if (!existsSync(selectionOf(prepared))) return false;
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
