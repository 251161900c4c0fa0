/** Reports the figures that a test counted. `tools/support/jest.ts` prints them at the end of the run. */
import { appendFileSync } from "node:fs";
import { figuresVariable, formatFigures, type Figures } from "../../tools/support/jest";

export function reportFigures(of: string, figures: Figures["figures"]): void {
  const file = process.env[figuresVariable];
  if (file) appendFileSync(file, `${JSON.stringify({ of, figures } satisfies Figures)}\n`);
  else process.stderr.write(`${of}: ${formatFigures(figures)}\n`);
}
