/** The types of texts that a program gives, with what is wrong with one as a clause. No clause quotes a value (G8). */
import * as z from "zod";
import { outputTextProblem } from "./outputText";
import { Opaque, type OpaqueKind } from "./propertyValue";

/** What to give in place of a value that is no text. */
const opaqueProblems: Readonly<Record<OpaqueKind, string>> = {
  resource: "is a resource: give its id",
  asset: "is an asset: give its text",
  archive: "is an archive: give a text",
  newer: "is of a kind that this version of the provider does not know: give a text",
};

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  return typeof value === "boolean" ? "true or false" : `a ${typeof value}`;
}

/** Says what a value is in place of a text. */
export function notText({ input }: { input?: unknown }): string {
  if (input instanceof Opaque) return opaqueProblems[input.kind];
  return typeof input === "number"
    ? "is a number, and has to be text: put it in quotes"
    : `must be text, not ${kindOf(input)}`;
}

/** Says what a value is in place of a list of texts. */
export function notList({ input }: { input?: unknown }): string {
  const given = input instanceof Opaque ? `a ${input.kind}` : kindOf(input);
  return `must be a list, not ${given === "a string" ? "one text" : given}`;
}

/** Makes a check of zod from a function that returns what is wrong with a text. No later check then sees the text. */
export function refused(problemOf: (text: string) => string | undefined) {
  return (text: string, context: z.RefinementCtx<string>) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: "custom", message, continue: false });
  };
}

/** Any text, but not that of an Output. */
export const anyText = z.string({ error: notText }).superRefine(refused(outputTextProblem));

/** The same, and not empty. */
export const nonEmptyText = z
  .string({ error: notText })
  .min(1, { error: "must not be empty", abort: true })
  .superRefine(refused(outputTextProblem));

/** Control characters, those without width, those that change the direction of the text, and halves of characters. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Says what a value is in place of an id. Pulumi makes a number of digits in a YAML program's configuration, also in quotes. */
export function notIdentifier(issue: { input?: unknown }): string {
  const inList =
    "from a YAML configuration: into a list, `pulumi config set --path 'ids[0]' 22.04`";
  return notText(issue) + (typeof issue.input === "number" ? ` (${inList})` : "");
}

/** The identifier of something at the service. What such a one looks like is not known, only what nobody means. */
export const identifier = z
  .string({ error: notIdentifier })
  .pipe(nonEmptyText)
  .superRefine(
    refused((text) => {
      if (text.trim() === "") return "must not be only white space";
      if (text.trim() !== text) {
        return "has white space around it, such as the line break at the end of a file";
      }
      return invisible.test(text)
        ? "must not contain control characters, such as line breaks, or characters that can't be seen"
        : undefined;
    }),
  );

/**
 * Returns a number as the text that was meant, if no digit can have been lost. A program in YAML gives an id of digits from
 * its configuration as a number.
 */
export function numberAsText<T>(value: T): T | string {
  return typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
}
