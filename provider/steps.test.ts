/** Shows that what checks an input takes steps in proportion to it: twice the text, about twice the steps. */
import { expect, test } from "@jest/globals";
import { withoutPasswords } from "./addresses";
import { settingTypes } from "./config/settings";
import { outputTextProblem } from "./pulumi/outputText";
import { stepsOf } from "./testing/steps";
import { unusableIn, unpackedScript } from "./userData/cloudInit";

const message = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=B\n\n";
const judge = (text: string) => unusableIn(Buffer.from(text));
const unpack = (text: string) => unpackedScript(Buffer.from(text));
const words = "Calling __a__ " + "on".repeat(12) + "an".repeat(12) + "output".repeat(4);

/** What checks a text, and a text that is as hard for it as any, by its length. */
const hard: Record<string, [check: (text: string) => unknown, text: (length: number) => string]> = {
  "the words of an Output": [
    outputTextProblem,
    (length) => `${words}${"t".repeat(24)}${"is".repeat(12)}`.repeat(length / 100),
  ],
  "many keys": [
    judge,
    (length) => `#cloud-config\n${Array.from({ length }, (_, n) => `k${n}: 1\n`).join("")}`,
  ],
  "nothing below a header": [judge, (length) => `#cloud-config of it${"\n".repeat(length)}`],
  "blanks in a message": [unpack, (length) => `${message}--${" ".repeat(length)}x`],
  "headers in one line": [
    unpack,
    (length) => message + "Content-Type: multipart/a;\r".repeat(length / 25),
  ],
  "entries that one alias makes": [
    judge,
    (length) =>
      `#cloud-config-archive\n- &a |\n  #cloud-config\n${"  # a\n".repeat(length)}${"- *a\n".repeat(length)}`,
  ],
  "slashes in an address": [
    (text) => settingTypes.baseUrl.safeParse(text),
    (length) => `https://a/${"/".repeat(length)}b`,
  ],
  "a long name in an address": [withoutPasswords, (length) => "a".repeat(length)],
};

test.each(Object.entries(hard))("%s: twice the text, twice the steps", async (_, [check, text]) => {
  const [once, twice] = [text(150), text(300)];
  const [steps, more] = [await stepsOf(() => check(once)), await stepsOf(() => check(twice))];
  expect(more).toBeLessThan(3 * steps);
  expect(more).toBeLessThan(100 * twice.length);
});
