/**
 * The plugin's start. The engine waits for the port, so nothing is loaded before it that is not
 * needed for it: the service's client and the definitions come with the first call that wants them.
 */
import { fstatSync } from "node:fs";
import metadata from "../metadata.json";
import { systemClock } from "./clock";
import { createProvider } from "./provider";
import { engineAddress } from "./rpc/arguments";
import { EngineLog } from "./rpc/engineLog";
import { describe } from "./rpc/errors";
import { createServer } from "./rpc/server";
import { endWith } from "./rpc/shutdown";
import { Cleaner } from "./text";

/** What a person can run by hand, loaded only then: each takes its arguments, gives its exit code. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  "--help": async () => usage,
  "-h": async () => usage,
  help: async () => usage,
  "--version": async () => async () => {
    process.stdout.write(`${metadata.version}\n`);
    return 0;
  },
  discard: async () => {
    const { discard } = await import("./commands/discard.js");
    return (args) => discard(args, process.env, (line) => process.stdout.write(`${line}\n`));
  },
};
type Command = (args: readonly string[]) => Promise<number>;

async function usage(): Promise<number> {
  process.stdout
    .write(`The ${metadata.name} plugin for Pulumi, ${metadata.version}. Pulumi starts it by itself.

By hand:
  pulumi-resource-compute discard [URN]   list the creates that a run left open, or forget one
  pulumi-resource-compute --version
  pulumi-resource-compute                 serve, for PULUMI_DEBUG_PROVIDERS=compute:PORT (the
                                          environment that counts is then the one given here)
`);
  return 0;
}

const offer = {
  resources: ["compute:index:Instance"],
  functions: [
    "compute:index:getInstance",
    "compute:index:getInstances",
    "compute:index:getAccount",
  ],
};

async function main(argv: readonly string[]): Promise<void> {
  const [name = "", ...rest] = argv;
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (load) process.exit(await (await load())(rest));
  const address = engineAddress(argv);
  if (address !== undefined && !/:\d+$/.test(address)) {
    process.stderr.write(`There is no command "${address}". See pulumi-resource-compute --help\n`);
    process.exit(2);
  }
  await serve(address);
}

async function serve(address: string | undefined): Promise<void> {
  // Stdout is for the port: a dependency's stray word there would be taken for it.
  console.log = console.info = console.debug = console.error;
  const cleaner = new Cleaner();
  const log = new EngineLog({ cleaner, clock: systemClock, address });
  surviveDefects(log, cleaner);
  const provider = createProvider({
    messages: log,
    cleaner,
    clock: systemClock,
    env: process.env,
  });
  const server = createServer({
    provider,
    log,
    cleaner,
    version: metadata.version,
    packageName: metadata.name,
    offer,
  });
  const port = await server.listen();
  endWith({
    provider,
    server,
    clock: systemClock,
    engineOwnsStdin: address !== undefined && piped(),
  });
  // The first and only thing on stdout: what the engine dials.
  process.stdout.write(`${port}\n`);
}

/** An exit in the middle of a Create loses the instance (G1); a defect elsewhere is no reason. */
function surviveDefects(log: EngineLog, cleaner: Cleaner): void {
  const report = (error: unknown) => {
    const { stack } = describe(error);
    log.debug(`unexpected: ${stack}`);
    process.stderr.write(`${cleaner.clean(stack)}\n`);
  };
  process.on("uncaughtException", report);
  process.on("unhandledRejection", report);
  // The engine reads both; when it has been killed, writing fails, which is no defect.
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
}

/** Whether someone holds the other end: with /dev/null there, an end of input says nothing. */
function piped(): boolean {
  try {
    const stdin = fstatSync(0);
    return stdin.isFIFO() || stdin.isSocket();
  } catch {
    return false;
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`pulumi-resource-compute could not start: ${describe(error).message}\n`);
  process.exit(1);
});
