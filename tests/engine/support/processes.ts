/**
 * Finds and kills processes of this machine, for the tests that kill an engine or a plugin and check what still runs.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

interface Process {
  pid: number;
  parent: number;
  command: string;
}

/** Returns the processes that a process has started, directly or through another process. */
export function startedBy(ancestor: number): Process[] {
  const all = processes();
  const below = new Set([ancestor]);
  // A child may be listed before its parent, so the search repeats until it finds no more.
  for (let size = 0; size < below.size;) {
    size = below.size;
    for (const { pid, parent } of all) if (below.has(parent)) below.add(pid);
  }
  return all.filter(({ pid }) => pid !== ancestor && below.has(pid));
}

/** Whether a process is the plugin or its recorder. */
export const isPlugin = ({ command }: Process) => command.includes("/bin/start.js");

/** Resolves when none of the processes runs any more. If one still runs after `seconds`, kills it and rejects. */
export async function gone(pids: readonly number[], seconds = 30): Promise<void> {
  const end = performance.now() + seconds * 1000;
  for (let left = pids; (left = left.filter(isRunning)).length > 0;) {
    if (performance.now() > end) {
      for (const pid of left) process.kill(pid, "SIGKILL");
      throw new Error(`still running: ${left.join(", ")}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Kills the processes that still run. */
export async function kill(started: readonly Process[]): Promise<void> {
  const pids = started.map(({ pid }) => pid);
  for (const pid of pids.filter(isRunning)) process.kill(pid, "SIGKILL");
  await gone(pids);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

/**
 * Whether a process is a zombie: it has ended, but no parent has collected it. In a container, the first process may
 * never collect orphans.
 */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // The process is gone, or the system has no /proc, such as macOS.
    return false;
  }
}

/** Returns all processes of this machine. */
function processes(): Process[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" });
  return [...table.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map(([, pid, parent, command]) => ({
    pid: Number(pid),
    parent: Number(parent),
    command: command ?? "",
  }));
}

/** Whether this machine has `script` of util-linux, which runs a command in a terminal. */
const hasTerminals = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes(
  "util-linux",
);

/** Why tests with a terminal can't run on this machine. Undefined if they can. */
export const noTerminals = hasTerminals ? undefined : "this machine has no `script` of util-linux";
