/**
 * Finds the text that an Output of an SDK becomes if a program uses it as a string: in place of the value, a server would get
 * a sentence, or an address in memory.
 */

/** For each SDK: what such a text has in it, and what makes the text with the value. */
const marks: readonly [mark: RegExp, remedy: string][] = [
  [/Calling \[to(String|JSON)\] on an \[Output<T>\]/, "pulumi.interpolate or pulumi.jsonStringify"],
  [
    /Calling __\w+__ on an Output\[T\]|<pulumi\.output\.Output object at 0x/,
    "pulumi.Output.concat or pulumi.Output.format",
  ],
  [/Calling \[ToString\] on an \[Output<T>\]/, "Output.Format"],
  [/Calling 'toString' on an 'Output<T>'/, "Output.format"],
  // Of Go: a structure with one pointer, in the formats %v, %+v and %s.
  [/\{0x[0-9a-f]{10,12}\}|\{OutputState:0x|\*internal\.OutputState=/, "pulumi.Sprintf"],
];

/** Returns what is wrong with a text that has an Output in it, as a clause. It quotes nothing. */
export function outputTextProblem(text: string): string | undefined {
  const [, remedy] = marks.find(([mark]) => mark.test(text)) ?? [];
  return remedy === undefined
    ? undefined
    : `has the text of an Output in it, and not its value: use ${remedy}, or an apply`;
}
