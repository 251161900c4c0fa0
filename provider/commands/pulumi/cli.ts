/** Asks the Pulumi CLI on PATH. */
import { execFile } from "node:child_process";
import { withoutPasswords } from "../../backendUrl";

export type Said = { ok: true; stdout: string } | { ok: false; missing: boolean; why: string };

/** A slow machine needs seconds for it; one that hangs is not to hang us. */
const patienceMs = 60_000;

export function pulumi(args: readonly string[], env: NodeJS.ProcessEnv): Promise<Said> {
  const { promise, resolve } = Promise.withResolvers<Said>();
  const options = {
    timeout: patienceMs,
    // A state may be of any size.
    maxBuffer: Infinity,
    env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
  };
  // Without what was asked with it.
  const command = ["pulumi", ...args.slice(0, 2).filter((word) => /^[a-z]+$/.test(word))].join(" ");
  const child = execFile(
    "pulumi",
    [...args, "--non-interactive"],
    options,
    (error, stdout, stderr) => {
      if (!error) return resolve({ ok: true, stdout });
      const missing = error.code === "ENOENT";
      // It repeats the backend's address, password and all.
      const said = withoutPasswords(stderr.trim().split("\n").at(-1) ?? "");
      const why = missing
        ? "there is no pulumi on PATH"
        : error.killed
          ? `\`${command}\` did not end within ${patienceMs / 1000} s`
          : `\`${command}\` failed: ${said.replace(/^error: /, "") || `exit code ${error.code}`}`;
      resolve({ ok: false, missing, why });
    },
  );
  child.stdin?.end();
  return promise;
}

/** What the CLI gave with --json; undefined where it is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
