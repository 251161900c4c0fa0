/** How much more, as a share, the last third of a series holds than the third before it. */
export function growth(series: readonly number[]): number {
  const third = Math.floor(series.length / 3);
  const last = mean(series.slice(-third));
  const middle = mean(series.slice(-2 * third, -third));
  return last / middle - 1;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
