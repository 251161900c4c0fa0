/** Runs a peer's command to its end, and shows what it said only if that was not the one hoped for. */
import { runCommand, type CommandOptions } from "../tools/support/command";
import { ToolError } from "../tools/support/main";

export async function succeed(
  command: string,
  args: readonly string[],
  options: Omit<CommandOptions, "onLine">,
): Promise<void> {
  const said: string[] = [];
  const { code } = await runCommand(command, args, {
    ...options,
    onLine: (line) => said.push(line),
  });
  if (code !== 0) {
    throw new ToolError(
      `${command} ${args.join(" ")} ended with ${code}:\n${said.slice(-30).join("\n")}`,
    );
  }
}
