/** How findings are shown: a line each, and a second one with the next step of what is not well. */
import { count, type Terminal } from "../terminal";
import type { Check, Finding } from "../finding";

const colours = { ok: "green", warning: "yellow", FAILED: "red", skipped: "gray" } as const;
const width = { result: 9, check: 13 } as const;

/** For people; each finding is shown as it is made, since a service may take its time. */
export class Table {
  /** Skipped in a row for one reason: one line for all. */
  #skipped: { checks: Check[]; why: string } | undefined;

  constructor(private readonly by: Terminal) {}

  add(finding: Finding): void {
    const { check, result, found } = finding;
    if (result === "skipped" && this.#skipped?.why === found) {
      this.#skipped.checks.push(check);
      return;
    }
    this.#flush();
    if (result === "skipped") {
      this.#skipped = { checks: [check], why: found };
      return;
    }
    this.#line(result, `${check.padEnd(width.check)}${found}`);
    if ("next" in finding) {
      this.by.print(finding.next, `${" ".repeat(width.result + width.check)}→ `);
    }
  }

  end(findings: readonly Finding[]): void {
    this.#flush();
    const number = (result: Finding["result"]) =>
      findings.filter((finding) => finding.result === result).length;
    const [wrong, warnings] = [number("FAILED"), number("warning")];
    const besides = warnings === 0 ? "" : count(warnings, "warning");
    const verdict =
      wrong > 0
        ? `${[`${wrong} FAILED`, besides].filter(Boolean).join(", ")}: \`pulumi up\` can't work like this.`
        : besides
          ? `\`pulumi up\` can work; ${besides}.`
          : "All is well.";
    this.by.print("");
    this.by.print(verdict);
  }

  #flush(): void {
    if (!this.#skipped) return;
    const { checks, why } = this.#skipped;
    const several = checks.length > 1;
    const names = checks.join(", ");
    this.#line("skipped", several ? `${names}: ${why}` : `${names.padEnd(width.check)}${why}`);
    this.#skipped = undefined;
  }

  #line(result: Finding["result"], text: string): void {
    this.by.print(text, this.by.paint(colours[result], result.padEnd(width.result)));
  }
}
