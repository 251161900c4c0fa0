/** The processes of this machine, for the tests that kill some and look what is left. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

interface Process {
  pid: number;
  parent: number;
  command: string;
}

/** What a process has started, itself or through another, as a language host does. */
export function startedBy(ancestor: number): Process[] {
  const all = processes();
  const below = new Set([ancestor]);
  // A process is listed before those it started or after them, so until there are no more.
  for (let size = 0; size < below.size;) {
    size = below.size;
    for (const { pid, parent } of all) if (below.has(parent)) below.add(pid);
  }
  return all.filter(({ pid }) => pid !== ancestor && below.has(pid));
}

export const isPlugin = ({ command }: Process) => command.includes("/bin/start.js");

/** Resolves once none of them runs any more. Rejects if one still does after so long, and ends it. */
export async function gone(pids: readonly number[], seconds = 30): Promise<void> {
  const end = performance.now() + seconds * 1000;
  for (let left = pids; (left = left.filter(runs)).length > 0;) {
    if (performance.now() > end) {
      for (const pid of left) process.kill(pid, "SIGKILL");
      throw new Error(`still running: ${left.join(", ")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Of those that have not ended by themselves. */
export async function kill(started: readonly Process[]): Promise<void> {
  const pids = started.map(({ pid }) => pid);
  for (const pid of pids.filter(runs)) process.kill(pid, "SIGKILL");
  await gone(pids);
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !hasEnded(pid);
}

/** A container's first process may never ask how an orphan ended, which then stays in the table. */
function hasEnded(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // There is no such folder on macOS.
    return false;
  }
}

function processes(): Process[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
  return [...table.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map(([, pid, parent, command]) => ({
    pid: Number(pid),
    parent: Number(parent),
    command: command ?? "",
  }));
}

/** `script`, of util-linux, gives a command a terminal. */
const hasTerminals = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes(
  "util-linux",
);

/** Why a test can't have one here; undefined where it can. */
export const noTerminals = hasTerminals ? undefined : "this machine has no `script` of util-linux";
