import type { Unit } from "../figure";

export function amount(value: number, unit: Unit): string {
  return `${round(value)} ${unit}`;
}

/** Three digits say all that a measurement does. */
export function round(value: number): string {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
