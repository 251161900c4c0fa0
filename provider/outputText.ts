/**
 * Finds the text that an Output of an SDK becomes if a program uses it as a string: in place of the value, a server would get
 * a sentence, an address in memory, or `<nil>`.
 */

/** What may stand between two words: YAML folds lines, JSON and URLs escape signs, and a name has hyphens. */
const gap = "[^]{1,24}?";

/** "Calling [toString] on an [Output<T>] is not supported." */
const words = ["Calling", "(?:toString|toJSON|__[a-z]{1,12}__)", "on", "an", "Output", "T", "is"];
const sentence = new RegExp([...words, "not", "supported"].join(gap), "i");

const ofTypeScript = "pulumi.interpolate";
const ofPython = "pulumi.Output.concat or pulumi.Output.format";
const ofDotNet = "Output.Format";

/** For the sentence as each SDK writes it: what makes the text with the value. The first that matches counts. */
const remedies: readonly [form: RegExp, remedy: string][] = [
  [/__/, ofPython],
  [/toJSON/i, "pulumi.jsonStringify"],
  [/ToString/, ofDotNet],
  [/'|\\u0027|&#39;|%27/, "Output.format"], // Java
];

/** Other texts that an Output becomes, and what makes the text with the value. */
const marks: readonly [mark: RegExp, remedy: string][] = [
  [/<pulumi\.output\.Output\b/, ofPython],
  [/Pulumi\.(?:In|Out)put\w*`\d\[/, ofDotNet],
  // Of Go: a structure with one pointer, in the formats %v, %+v and %s. Its address is a multiple of 16.
  [/\{0x[0-9a-f]{9,11}0\}|\{OutputState:0x|\*internal\.OutputState=/, "pulumi.Sprintf"],
];

/** The text of a null in Go, and so in YAML. JSON and URLs escape its signs. */
const nil = /(?:<|\\u003c|%3c)nil(?:>|\\u003e|%3e)/i;
const missingValue =
  'has "<nil>" in it, which a program in Go or YAML writes where a value is missing: give the value';

/** Returns what is wrong with a text that has an Output or a missing value in it, as a clause. It quotes nothing else. */
export function outputTextProblem(text: string): string | undefined {
  const [said] = sentence.exec(text) ?? [];
  const [, remedy] =
    said === undefined
      ? (marks.find(([mark]) => mark.test(text)) ?? [])
      : (remedies.find(([form]) => form.test(said)) ?? [undefined, ofTypeScript]);
  if (remedy !== undefined) {
    return `has the text of an Output in it, and not its value: use ${remedy}, or an apply`;
  }
  return nil.test(text) ? missingValue : undefined;
}
