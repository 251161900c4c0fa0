/**
 * `emulator`: runs the emulator of the service, to try a program without an account. The emulator is a file of its own
 * beside the bundle, which only this command loads.
 */
import type { Command } from "commander";
import { pluginCommand } from "../provider/advice";
import type { Terminal } from "./terminal";

/** Adds the command `emulator`. The emulator parses its arguments itself, and prints its own help. */
export function addEmulator(program: Command, io: Terminal): void {
  program
    .command("emulator")
    .usage("[options]")
    .description("run the service on this machine, to try a program without an account")
    .helpOption(false)
    .allowUnknownOption()
    .allowExcessArguments()
    .action(async (_, { args }: Command) => {
      // `runByHand` ends the process at Ctrl-C. The emulator closes its database first.
      process.removeAllListeners("SIGINT");
      const { main } = await import("../emulator/bundled.js");
      io.exitCode = await main(args, pluginCommand("emulator"));
    });
}
