/** Finds and kills processes of this machine, for the tests that kill an engine or a plugin. */
import { execFileSync, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

interface Process {
  pid: number;
  parent: number;
  command: string;
}

/** Returns all processes that run. A zombie has ended, but in a container its parent may never collect it. */
function processes(): Process[] {
  const table = execFileSync("ps", ["-A", "-o", "pid=,ppid=,stat=,args="], { encoding: "utf8" });
  return [...table.matchAll(/^\s*(\d+)\s+(\d+)\s+[^Z\s]\S*\s+(.*)$/gm)].map(
    ([, pid, parent, command = ""]) => ({ pid: Number(pid), parent: Number(parent), command }),
  );
}

const running = (pids: readonly number[]) =>
  processes().flatMap(({ pid }) => (pids.includes(pid) ? [pid] : []));

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

/** Whether it is the plugin of bin/, or one that was installed from there. */
export const isPlugin = ({ command }: Process) =>
  /\/(bin|resource-compute-v[^/]+)\/start\.js/.test(command);

/** Resolves when none of the processes runs any more. If one still runs after `seconds`, kills it and rejects. */
export async function gone(pids: readonly number[], seconds = 30): Promise<void> {
  const end = performance.now() + seconds * 1000;
  for (let left = running(pids); left.length > 0; left = running(left)) {
    if (performance.now() > end) {
      await kill(left);
      throw new Error(`still running: ${left.join(", ")}`);
    }
    await sleep(50);
  }
}

export async function kill(pids: readonly number[]): Promise<void> {
  for (const pid of running(pids)) process.kill(pid, "SIGKILL");
  await gone(pids);
}

/** Sends a signal to the group of a detached process, as a terminal does. Resolves when the process has ended. */
export async function endGroup(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  // Without an id, the signal would go to the group of the tests.
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  process.kill(-child.pid, signal);
  await ended;
}

/** Whether this machine has `script` of util-linux, which runs a command in a terminal. */
const hasTerminals = spawnSync("script", ["--version"], { encoding: "utf8" }).stdout?.includes(
  "util-linux",
);

/** Why tests with a terminal can't run on this machine. Undefined if they can. */
export const noTerminals = hasTerminals ? undefined : "this machine has no `script` of util-linux";
