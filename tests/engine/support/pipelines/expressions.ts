/** The expressions of GitHub's workflows, as far as ours use them. */

/** What an expression can name: `github`, `vars`, `secrets`, …, as an object each. */
export type Contexts = Readonly<Record<string, unknown>>;

/** How the job stands when a step's turn comes. */
export type Status = "success" | "failure" | "cancelled";

/** A text with its `${{ … }}` filled in. */
export function filled(text: string, contexts: Contexts): string {
  return text.replace(/\$\{\{\s*(.*?)\s*\}\}/g, (_, expression: string) =>
    String(valueOf(expression, contexts)),
  );
}

/** Whether a step or a job with this `if` runs. */
export function holds(condition: string | undefined, contexts: Contexts, status: Status): boolean {
  const expression = (condition ?? "success()").replace(/^\$\{\{\s*(.*?)\s*\}\}$/, "$1");
  const terms = expression.split("&&").map((term) => term.trim());
  // As GitHub has it: who asks for no status asks for success.
  if (!/\b(always|success|failure|cancelled)\(\)/.test(expression)) terms.push("success()");
  return terms.every((term) => termHolds(term, contexts, status));
}

function termHolds(term: string, contexts: Contexts, status: Status): boolean {
  const [, not, asked] = /^(!?)(always|success|failure|cancelled)\(\)$/.exec(term) ?? [];
  if (asked !== undefined) return (asked === "always" || asked === status) !== (not === "!");
  const [, left = "", operator, right = ""] = /^(\S+) ([!=]=) (\S+)$/.exec(term) ?? [];
  if (operator === undefined) throw new Error(`expressions.ts does not know: ${term}`);
  return (valueOf(left, contexts) === valueOf(right, contexts)) === (operator === "==");
}

function valueOf(expression: string, contexts: Contexts): unknown {
  const [, text] = /^'([^']*)'$/.exec(expression) ?? [];
  if (text !== undefined) return text;
  // Part of a name of a cache, which nothing here hangs on.
  if (expression.startsWith("hashFiles(")) return "hash";
  if (!/^\w+(\.\w+)+$/.test(expression)) {
    throw new Error(`expressions.ts does not know: ${expression}`);
  }
  let value: unknown = contexts;
  for (const key of expression.split(".")) value = (value as Contexts | undefined)?.[key];
  // What is not there is empty to GitHub.
  return value ?? "";
}
