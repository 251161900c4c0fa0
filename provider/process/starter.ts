/**
 * Ends the plugin with the process that started it. Ctrl-C does not reach what `pulumi plugin run` has started: Pulumi puts it
 * into a process group of its own, and ends without ending it.
 */
import { isStdinPiped } from "./executable";

/** How often the plugin looks whether its starter is gone, once its stdin has ended. */
const lookMs = 50;

/** Makes the process end as at Ctrl-C if its starter is gone. The end of stdin alone means nothing (`echo | doctor`). */
export function endWithStarter(): void {
  if (!isStdinPiped()) return;
  const starter = process.ppid;
  const isGone = (): boolean => process.ppid !== starter || !isAlive(starter);
  process.stdin.on("error", () => undefined);
  process.stdin.on("close", () => {
    const look = setInterval(() => {
      // The emulator listens for the signal only when it has started.
      if (isGone() && process.emit("SIGINT", "SIGINT")) clearInterval(look);
    }, lookMs).unref();
  });
  process.stdin.resume();
}

/** Whether the process runs. On Windows, the id of a starter that is gone does not change. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
