/**
 * Finds the text that an Output of an SDK becomes if a program uses it as a string: in place of the value, a server would get
 * a sentence, an address in memory, or `<nil>`.
 */

/** "Calling [toString] on an [Output<T>] is not supported." */
const words = [
  "(?:toString|toJSON|__[a-z]{1,12}__)",
  ..."on an Output T is not supported".split(" "),
];

/**
 * The next word. Between two, YAML folds lines, JSON and URLs escape signs, and a name has hyphens. No other place of a word is
 * tried once it is found, because the ways through all places are many.
 */
const following = (word: string, index: number) => `(?=([^]{1,24}?${word}))\\${index + 1}`;

const forms = [
  new RegExp(["Calling", ...words.map(following)].join(""), "i"),
  // Of Go, in the formats %v, %+v and %s: a structure with one pointer, whose address is a multiple of 16.
  /\{0x[0-9a-f]{9,11}0\}|\{OutputState:0x|\*internal\.OutputState=/,
];

/** The text of a null in Go, and so in YAML. JSON and URLs escape its signs. */
const nil = /(?:<|\\u003c|%3c)nil(?:>|\\u003e|%3e)/i;

/** Returns a clause about a text that has an Output or a missing value in it. The clause quotes nothing else of the text. */
export function outputTextProblem(text: string): string | undefined {
  if (forms.some((form) => form.test(text)))
    return "has the text of an Output in it, and not its value: use an apply";
  return nil.test(text)
    ? 'has "<nil>" in it, which a program in Go or YAML writes where a value is missing: give the value'
    : undefined;
}
