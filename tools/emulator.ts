/** `npm run emulator`; its options are told in emulator/cliOptions.ts. */
import { main } from "../emulator/cli";

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
