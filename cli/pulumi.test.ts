/** Tests how long the Pulumi CLI may take. What it prints is tested with the real one. */
import childProcess from "node:child_process";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { importState, readState } from "./pulumi";

interface Options {
  timeout: number;
}

/** The time-outs of the commands, in milliseconds, and what they got on stdin. Each command that has one is killed by it. */
let ran: { timeout: number; input: Promise<string> }[];
beforeEach(() => {
  ran = [];
  const run = (_file: string, _args: readonly string[], { timeout }: Options) => {
    const stdin = new PassThrough();
    ran.push({ timeout, input: text(stdin) });
    const killed = Object.assign(new Error("killed"), { killed: true });
    const ended = timeout > 0 ? Promise.reject(killed) : Promise.resolve({ stdout: "" });
    return Object.assign(ended, { child: { stdin } });
  };
  Object.assign(jest.spyOn(childProcess, "execFile"), { [promisify.custom]: run });
});
afterEach(() => {
  jest.restoreAllMocks();
});

test("a command that only reads is ended after a minute, and the message says that nothing was changed", async () => {
  expect(await readState("dev", {})).toMatchObject({
    problem: {
      found: "`pulumi stack export` did not end within 60 s",
      next: expect.stringMatching(/^Nothing was changed\./),
    },
  });
});

test("the command that writes a state may take any time, and gets the state on stdin", async () => {
  await importState("dev", "{}", {});
  expect(ran.map(({ timeout }) => timeout)).toEqual([0]);
  expect(await ran[0]?.input).toBe("{}");
});
