/** What a person does who reads a message: types the commands that it prints, until nothing is left to do. */
import { expect } from "@jest/globals";
import { printedCommands } from "../../support/printed";
import type { Fixture } from "./fixture";

/** The URN of an instance in the stack of most tests. */
export const urnOf = (name: string) => `urn:pulumi:dev::proj::compute:index:Instance::${name}`;

/** What `doctor` prints if it finds nothing to do. */
export const isWell = /^(?:ok .+\n)+\nNothing found prevents `pulumi up`\.\s*$/;

/** Returns the printed command that contains `start`. All that do must be the same. @throws if there is none */
export function printed(output: string, start: string): string {
  const [command, ...others] = new Set(printedCommands(output, start));
  if (command === undefined || others.length > 0) {
    throw new Error(`not one command with "${start}" in: ${output}`);
  }
  return command;
}

/** Types the printed command that contains `start`, with the names that a person fills in. Returns its output. */
export function typePrinted(
  { stack }: Pick<Fixture, "stack">,
  output: string,
  start: string,
  filledIn: Readonly<Record<string, string>> = {},
): Promise<string> {
  const command = Object.entries(filledIn).reduce(
    (line, [placeholder, value]) => line.replace(placeholder, value),
    printed(output, start),
  );
  return stack.type(command);
}

/** Types a printed command that asks for the token. The token is searched for in command lines, so a variable has it. */
export async function typeToken(
  { stack }: Pick<Fixture, "stack">,
  command: string,
  token: string,
): Promise<void> {
  stack.setEnv("TOKEN_TO_SET", token);
  await stack.type(`printf %s "$TOKEN_TO_SET" | ${command}`);
}

/**
 * Expects that an `up` creates nothing, that the next one has nothing to do, and that the stack has these instances: by
 * default all that the service has, so that none is doubled or unnamed.
 */
export async function expectAgreement(
  fixture: Fixture,
  ids: readonly string[] = fixture.ids(),
): Promise<void> {
  const { stack } = fixture;
  const posts = fixture.posts();
  await stack.up();
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(posts);
  expect(await stack.ids()).toEqual([...ids].sort());
}
