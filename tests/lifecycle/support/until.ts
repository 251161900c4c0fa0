/** Waits for what has to come, and says so if it never does. */
export async function until(what: () => boolean, seconds = 60): Promise<void> {
  for (const end = performance.now() + seconds * 1000; !what(); await pause(10))
    if (performance.now() > end) throw new Error(`never came true: ${String(what)}`);
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((go) => setTimeout(go, milliseconds));
}
