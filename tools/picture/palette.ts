/** A dark theme whose colours all stand out from its background (contrast of 4.5 : 1 or more). */
export const theme = {
  background: "#0d1117",
  bar: "#161b22",
  border: "#3d444d",
  text: "#d1d7e0",
  title: "#9198a1",
  dots: ["#ff7b72", "#d29922", "#3fb950"],
};

/** Black to white, then the bright ones. Black is a grey, to be seen on the background. */
const sixteen = [
  ...["#7d8590", "#ff7b72", "#3fb950", "#d9a93b", "#58a6ff", "#bc8cff", "#39c5cf", "#d1d7e0"],
  ...["#8b949e", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc"],
];

export function named(index: number): string {
  return sixteen[index] ?? theme.text;
}

/** Of the 256: the sixteen, a cube of 6 × 6 × 6, and 24 greys. */
export function indexed(index: number): string {
  if (index < 16) return named(index);
  if (index >= 232) return rgb([0, 0, 0].map(() => 8 + (index - 232) * 10));
  const levels = [36, 6, 1].map((step) => Math.floor((index - 16) / step) % 6);
  return rgb(levels.map((level) => (level === 0 ? 0 : 55 + level * 40)));
}

function rgb(channels: readonly number[]): string {
  return `#${channels.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}
