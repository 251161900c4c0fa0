/** Returns the commands in a message that contain `start`. Messages have commands between backticks. */
export function printedCommands(message: string, start: string): string[] {
  return [...message.matchAll(/`([^`]+)`/g)]
    .map(([, command = ""]) => command)
    .filter((command) => command.includes(start));
}
