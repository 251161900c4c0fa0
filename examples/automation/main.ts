/** The command line: `node main.ts up 42 --hours 8`. */
import { parseArgs } from "node:util";
import { ConcurrentUpdateError, StackNotFoundError } from "@pulumi/pulumi/automation/index.js";
import { Reviews } from "./reviews.ts";

const usage = `node main.ts up NAME [--hours 8] [--servers 1]   bring one up, or bring it in line
node main.ts list                               those there are, and when they end
node main.ts down NAME                          destroy one
node main.ts reap                               destroy all whose time is over`;

async function main(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      hours: { type: "string", default: "8" },
      servers: { type: "string", default: "1" },
    },
  });
  const [command, name] = positionals;
  const reviews = new Reviews(import.meta.dirname, (line) => console.error(line));
  if (command === "up" && name !== undefined) {
    const outputs = await reviews.up(name, Number(values.hours), count(values.servers));
    console.log(JSON.stringify(outputs));
  } else if (command === "down" && name !== undefined) {
    await reviews.down(name);
  } else if (command === "list") {
    console.log(JSON.stringify(await reviews.list()));
  } else if (command === "reap") {
    const reaped = await reviews.reap();
    console.log(JSON.stringify(reaped));
    return reaped.unclear.length > 0 || Object.keys(reaped.failed).length > 0 ? 1 : 0;
  } else {
    console.error(usage);
    return 2;
  }
  return 0;
}

function count(text: string): number {
  const servers = Number(text);
  if (Number.isInteger(servers) && servers >= 1 && servers <= 10) return servers;
  throw new RangeError(`--servers takes a whole number from 1 to 10, not ${text}`);
}

function advice(error: unknown): string {
  if (error instanceof ConcurrentUpdateError) {
    return "Another run is busy with this environment. Try again when it is done.";
  }
  if (error instanceof StackNotFoundError) return "There is no such environment: see `list`.";
  return error instanceof Error ? error.message : String(error);
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(advice(error));
  process.exitCode = 1;
}
