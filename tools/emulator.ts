/** `npm run emulator -- [options]` */
import { main } from "../emulator/cli";

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
