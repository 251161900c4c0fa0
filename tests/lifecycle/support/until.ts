/** Waits for what has to come, and says so if it never does; on a busy machine it may take its time. */
export async function until(what: () => boolean, seconds = 300): Promise<void> {
  for (const end = performance.now() + seconds * 1000; !what(); await pause(10))
    if (performance.now() > end) throw new Error(`never came true: ${String(what)}`);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((go) => setTimeout(go, milliseconds));
}
