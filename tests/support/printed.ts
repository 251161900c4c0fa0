/** The commands that a message prints to be typed: what stands between backticks. */
export function printedCommands(message: string, start: string): string[] {
  return [...message.matchAll(/`([^`]+)`/g)]
    .map(([, command = ""]) => command)
    .filter((command) => command.includes(start));
}
