/** What the tests of `pulumi do` share: command lines, and a stack without a program. */
import { installPlugin } from "../../../tools/build";
import { Fixture, type FixtureOptions } from "./fixture";
import { emptyProgram, required } from "./programs";
import { isOldest, plugin } from "./stack";

/** Why there is no `pulumi do`. Undefined if there is. */
export const noDo = isOldest ? "the oldest engine has no `do`" : undefined;

/** The required inputs of an instance, as options. */
export const flags = Object.entries(required).map(
  ([name, value]) =>
    `--${name.replace(/[A-Z]/g, (sign) => `-${sign.toLowerCase()}`)}=${String(value)}`,
);

/** The command line of `pulumi do` without a stack, which finds the plugin by its path. */
export const withPlugin = ["do", "--package", plugin];
export const doing = (...args: string[]) => [...withPlugin, "compute:index:Instance", ...args];
export const unattended = ["--stateless", "--yes"];
export const creating = doing("create", ...unattended, ...flags);

/** A stack without a program. The commands without a stack take the address from the environment. */
export async function beginDoing(options: FixtureOptions = {}): Promise<Fixture> {
  const fixture = await Fixture.create({ program: emptyProgram, ...options });
  fixture.stack.setEnv("COMPUTE_BASE_URL", fixture.service.url);
  installPlugin(fixture.stack.home);
  return fixture;
}
