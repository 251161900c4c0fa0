/**
 * A program that the engine runs without a language host, by the Automation API. The host of these tests knows neither error hooks
 * nor `exists`.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Stack } from "./stack";

/**
 * Gives the project such a program, and returns the command line that runs `pulumi up` of it, or what OPERATION says. `pulumi` is
 * the SDK in the body, whose value is the program's outputs. With CTRL_C=1, one Ctrl-C ends the wait for the server.
 */
export function inlineProgram(stack: Stack, body: string): string {
  stack.javascript("");
  const file = join(stack.project, "inline.js");
  writeFileSync(
    file,
    `
const pulumi = require("@pulumi/pulumi");
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
async function program() {
${body}
}
const ctrlC = new AbortController();
const onOutput = (text) => {
  console.log(text);
  if (process.env.CTRL_C && text.includes("PROVISIONING, ")) ctrlC.abort();
};
LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "proj", program }, { workDir: "." })
  .then((stack) => stack[process.env.OPERATION ?? "up"]({ onOutput, signal: ctrlC.signal }))
  .catch((error) => {
    console.log(String(error));
    process.exitCode = 1;
  });
`,
  );
  return `'${process.execPath}' inline.js`;
}
