/** `npm run emulator`: starts the emulator. emulator/cli.ts parses the options. */
import { main } from "../emulator/cli";

void main(process.argv.slice(2), "npm run emulator --").then((code) => {
  process.exitCode = code;
});
