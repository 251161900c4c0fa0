/** Counts steps of regular expressions, so that a test can show without a clock how their time grows with the text. */
import { RegExpParser, type AST } from "@eslint-community/regexpp";
import { jest } from "@jest/globals";

/* eslint-disable @typescript-eslint/unbound-method -- both are called with what they belong to */
const { exec } = RegExp.prototype;
const { split } = String.prototype;
/* eslint-enable @typescript-eslint/unbound-method */

/**
 * Returns the steps of a call: how often its regular expressions look at a place of their text, if they go back as V8's do, and
 * how long the texts are that it splits.
 */
export async function stepsOf(call: () => unknown): Promise<number> {
  let steps = 0;
  let failure: Error | undefined;
  const spies = [
    jest.spyOn(RegExp.prototype, "exec").mockImplementation(function (this: RegExp, text) {
      try {
        steps += new Matcher(this, text).search();
      } catch (error) {
        failure = error as Error;
      }
      return exec.call(this, text);
    }),
    jest.spyOn(String.prototype, "split").mockImplementation(function (
      this: string,
      ...given: unknown[]
    ) {
      steps += this.length;
      return split.apply(this, given as Parameters<typeof split>);
    }),
  ];
  try {
    await call();
    // What is checked may catch any error.
    if (failure) throw failure;
    return steps;
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Whether the rest of an expression matches from this place on. */
type Rest = (at: number) => boolean;
/** To the right or, in a lookbehind, to the left. */
type Direction = 1 | -1;

/** Matches a text with an expression, as its next `exec` would. It goes as deep as the text is long. */
class Matcher {
  #steps = 0;
  readonly #captured = new Map<AST.CapturingGroup, string>();
  /** By its source. */
  readonly #known = new Map<string, RegExp>();

  constructor(
    readonly expression: RegExp,
    readonly text: string,
  ) {}

  search(): number {
    const { source, global, sticky, multiline, lastIndex, unicode } = this.expression;
    const pattern = new RegExpParser().parsePattern(source, 0, source.length, { unicode });
    const isAtStart = source.startsWith("^") && !multiline && pattern.alternatives.length === 1;
    let at = global || sticky ? lastIndex : 0;
    const last = sticky || isAtStart ? at : this.text.length;
    while (at <= last && !this.#anyOf(pattern, at, 1, () => true)) at += 1;
    return this.#steps;
  }

  #anyOf(
    { alternatives }: { alternatives: readonly AST.Alternative[] },
    at: number,
    direction: Direction,
    rest: Rest,
  ): boolean {
    return alternatives.some(({ elements }) => {
      const inOrder = direction === 1 ? elements : elements.toReversed();
      const next = inOrder.reduceRight<Rest>(
        (after, element) => (place) => this.#one(element, place, direction, after),
        rest,
      );
      return next(at);
    });
  }

  #one(element: AST.Element, at: number, direction: Direction, rest: Rest): boolean {
    this.#steps += 1;
    switch (element.type) {
      case "Group":
        return this.#anyOf(element, at, direction, rest);
      case "CapturingGroup":
        return this.#anyOf(element, at, direction, (end) => {
          this.#captured.set(element, this.text.slice(Math.min(at, end), Math.max(at, end)));
          return rest(end);
        });
      case "Backreference": {
        const [group] = [element.resolved].flat();
        const captured = (group && this.#captured.get(group)) ?? "";
        return this.text.startsWith(captured, at) && rest(at + captured.length);
      }
      case "Quantifier":
        return this.#repeated(element, 0, at, direction, rest);
      case "Assertion":
        if (element.kind === "lookahead" || element.kind === "lookbehind") {
          const way = element.kind === "lookahead" ? 1 : -1;
          return this.#anyOf(element, at, way, () => true) !== element.negate && rest(at);
        }
        return this.#holds(element, at) && rest(at);
      case "Character":
      case "CharacterClass":
      case "CharacterSet":
      case "ExpressionCharacterClass": {
        const place = direction === 1 ? at : at - 1;
        const isThere = place >= 0 && place < this.text.length;
        return isThere && this.#holds(element, place) && rest(at + direction);
      }
    }
  }

  #repeated(
    quantifier: AST.Quantifier,
    count: number,
    at: number,
    direction: Direction,
    rest: Rest,
  ): boolean {
    const { min, max, greedy, element } = quantifier;
    const more = () =>
      count < max &&
      this.#one(element, at, direction, (end) => {
        const isEmpty = end === at && count >= min;
        return !isEmpty && this.#repeated(quantifier, count + 1, end, direction, rest);
      });
    const enough = () => count >= min && rest(at);
    return greedy ? more() || enough() : enough() || more();
  }

  /** Whether V8 finds this one element here. */
  #holds({ raw }: AST.Node, at: number): boolean {
    const flags = [...this.expression.flags].filter((flag) => !"gy".includes(flag)).join("");
    const expression = this.#known.get(raw) ?? new RegExp(raw, `${flags}y`);
    this.#known.set(raw, expression);
    expression.lastIndex = at;
    return exec.call(expression, this.text) !== null;
  }
}
