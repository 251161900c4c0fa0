import type { Frame } from "./svg";

/** The first and the last frame, and those in between that are spread best over the time. */
export function pickFrames(frames: readonly Frame[], count: number): Frame[] {
  const end = frames.at(-1)?.at ?? 0;
  const picked = new Set<Frame>();
  for (let index = 0; index < count; index += 1) {
    const wanted = (end * index) / (count - 1);
    const nearest = frames.toSorted((a, b) => Math.abs(a.at - wanted) - Math.abs(b.at - wanted))[0];
    if (nearest) picked.add(nearest);
  }
  return [...picked];
}
