/** Tests that an error message shows no part of the request's user data (G8). */
import { expect, test } from "@jest/globals";
import { createBody } from "../testing/testClient";
import { withheld, withholdUserData } from "./withholdUserData";

const script = ["#cloud-config", "hostname: acme-web-1", "token:  abcdef", "pin: 12345"].join("\n");

/** Returns what a message shows of a text from the service, after a create with this script. */
function shown(text: string, userData = script): string {
  const body = { ...createBody, user_data: Buffer.from(userData).toString("base64") };
  return withholdUserData(body, (clean) => clean.replace("sk_test_1", "[secret]"))(text);
}

test.each([
  ["a whole line", "bad line 'hostname: acme-web-1' in user_data"],
  ["a part of a line, wherever it was cut", "…ostnam…"],
  ["two lines that were joined", "near config hostn"],
  ["white space that was made one space", "(token: abcdef)"],
  ["characters that a terminal does not show", "near hos\u0000tname"],
  ["a part of the Base64", `user_data ${Buffer.from(script).toString("base64").slice(7, 13)}...`],
  ["a word of another field", "no image for acme-web-1"],
])("a text that shares six characters with the script is not shown at all: %s", (_, text) => {
  expect(shown(text)).toBe(withheld);
});

test.each([
  ["the pin '12345' or 'abcde'", "the pin '12345' or 'abcde'"],
  ["flavor_id is missing", "flavor_id is missing"],
  ["of sk_test_1", "of [secret]"],
])("a text that shares fewer characters is shown: %s", (text, expected) => {
  expect(shown(text)).toBe(expected);
  expect(shown(text, "12345")).toBe(expected);
});

test("a script of 8 MB is searched to its end, also for a long text", () => {
  const numbers = Array.from({ length: 800_000 }, (_, line) => String(line * 7919).padStart(9));
  const long = `${numbers.join("\n")}\npassword: hunter2`;
  expect(shown("see unter2", long)).toBe(withheld);
  const text = "image_id is not known; ".repeat(10_000);
  expect(shown(text, long)).toBe(text);
});
