/**
 * `npm start`: runs a real `pulumi up` of examples/instance against the emulator, without any setup. At a
 * terminal, the emulator and its page then stay until Ctrl-C, also for commands in another terminal.
 * `npm start -- COMMAND` (preview, refresh, destroy, cancel) works on the same stack and the same
 * instances. All further arguments go to Pulumi.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { readRecords } from "../cli/records";
import { ListenError, OptionError, startEmulator } from "../emulator";
import metadata from "../metadata.json";
import { ensureBuilt, ensureSdkBuilt, installPlugin } from "./build";
import { oneOf, runWithArguments, say, ToolError } from "./support/main";
import { ownPulumi } from "./support/ownPulumi";
import { root, toolsDir } from "./support/paths";
import { ensureToolchain, type Toolchain } from "./toolchain";

const commands = {
  // `pulumi stack output` follows.
  up: ["up", "--yes", "--skip-preview", "--suppress-outputs"],
  preview: ["preview"],
  refresh: ["refresh", "--yes", "--skip-preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
  // Unlocks the stack after a `kill -9`.
  cancel: ["cancel", "--yes"],
} satisfies Record<string, readonly string[]>;

type Command = keyof typeof commands;

const example = join(root, "examples", "instance");
/** Holds the stack, and the emulator's database and port. */
const demo = join(toolsDir, "demo");
const beginAnew = `delete ${relative(process.cwd(), demo)}, which forgets the instances of the demo`;
const token = "sk_test_demo";

async function main([given = "up", ...rest]: readonly string[]): Promise<void> {
  refuseFlag(given);
  const name = oneOf("command", Object.keys(commands) as Command[], given);
  const [toolchain, plugin] = await Promise.all([
    ensureToolchain({ languages: ["nodejs"] }),
    ensureBuilt(),
    ensureSdkBuilt(),
  ]);

  mkdirSync(demo, { recursive: true });
  installPlugin(join(demo, "home"));
  await using emulator = await findOrStartEmulator();
  const isAtTerminal = process.stdin.isTTY && process.stdout.isTTY;
  const stays = name === "up" && emulator.isOwn && isAtTerminal;
  // Nobody is told of a page that ends with this command.
  if (stays || !emulator.isOwn) say(`\nThe emulator's page: ${emulator.origin}\n`);

  const interruption = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.once(signal, () => interruption.abort());
  const run = (args: readonly string[]) => runDemo(toolchain.pulumi, args, toolchain, emulator);
  await run(["stack", "select", "--create", "demo", "--non-interactive"]);
  if (name === "up" && isAnyInDoubt())
    await runDemo(plugin, ["settle", "--yes"], toolchain, emulator);
  const code = await run([...commands[name], ...rest]);
  if (name === "up" && code === 0) await run(["stack", "output"]);
  process.exitCode = code;
  say(
    code === 0
      ? whatNext([given, ...rest], stays ? ", in a second terminal" : "")
      : `\npulumi ${name} ended with exit code ${code}; see above. \`npm start\` tries again; if the stack is locked, run \`npm start -- cancel\` first. To begin anew, ${beginAnew}.`,
  );
  if (!stays || interruption.signal.aborted) return;
  say(`\nThe emulator's page, until Ctrl-C: ${emulator.origin}`);
  await once(interruption.signal, "abort");
}

/** Whether Pulumi was ended, and may not have saved which instances it had created. */
function isAnyInDoubt(): boolean {
  return readRecords(ownPulumi(demo), say).some(({ liveness }) => liveness === "dead");
}

/** @throws {ToolError} if a flag comes before the command */
function refuseFlag(given: string): void {
  if (!given.startsWith("-")) return;
  throw new ToolError(
    `The command comes first, and then the flags of Pulumi: \`npm start -- up ${given}\`. The commands: ${Object.keys(commands).join(", ")}`,
  );
}

/** An emulator, perhaps of another process. */
interface Service extends AsyncDisposable {
  origin: string;
  url: string;
  /** Whether it ends with this process. */
  isOwn: boolean;
}

/**
 * Starts the emulator on the port of the last run, because the state has its address. If an `npm start` in another
 * terminal keeps its emulator there, returns that one.
 */
async function findOrStartEmulator(): Promise<Service> {
  const portFile = join(demo, "port");
  const port = existsSync(portFile) ? Number(readFileSync(portFile, "utf8")) : 0;
  const database = join(demo, "emulator.db");
  const options = { port, database, provisioningSeconds: [3, 7] as const, controlEndpoints: true };
  try {
    const emulator = await startEmulator(options);
    writeFileSync(portFile, String(emulator.port));
    return { ...emulator, isOwn: true };
  } catch (error) {
    if (error instanceof OptionError)
      throw new ToolError(
        `The database of the demo can't be used (${error.message}). To start anew, ${beginAnew}.`,
      );
    if (!(error instanceof ListenError)) throw error;
    const origin = `http://127.0.0.1:${port}`;
    const answer = await fetch(`${origin}/control/instances`).catch(() => undefined);
    if (answer?.ok) {
      const url = `${origin}/v2`;
      return { origin, url, isOwn: false, [Symbol.asyncDispose]: async () => {} };
    }
    throw new ToolError(
      `Port ${port} is in use, and the instances of the demo have that address. Free the port, or ${beginAnew}.`,
    );
  }
}

/** Runs Pulumi or the plugin with the demo's stack. Returns the exit code. */
async function runDemo(
  command: string,
  args: readonly string[],
  toolchain: Toolchain,
  emulator: Service,
): Promise<number> {
  const env = toolchain.env({
    ...ownPulumi(demo),
    PULUMI_STACK: "demo",
    COMPUTE_BASE_URL: emulator.url,
    COMPUTE_API_TOKEN: token,
    // A file that holds another token would be an error.
    COMPUTE_API_TOKEN_FILE: "",
  });
  const child = spawn(command, args, { cwd: example, env, stdio: "inherit" });
  // Pulumi handles Ctrl-C, and the emulator must outlive it. A terminal sends the signal to both processes; without
  // one, this process passes it on.
  const stop = (signal: NodeJS.Signals) => process.stdin.isTTY || child.kill(signal);
  process.on("SIGINT", stop).on("SIGTERM", stop);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code ?? 1;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}

/** The next steps, without the command that was `typed`. */
function whatNext(typed: readonly string[], where: string): string {
  const [name] = typed;
  if (name === "destroy") return "\nThe stack is empty. docs/delete.md says what a delete does.";
  const program = relative(process.cwd(), join(example, "index.ts"));
  const steps = {
    "up -c count=3": "create another server, for example to meet a fault of the page",
    refresh: "read the instances back",
    preview: `after a change of the program, ${program}`,
    destroy: "tear the stack down",
  };
  const others = Object.entries(steps).filter(([command]) => command !== typed.join(" "));
  const next = [
    `\nWhat next${where}:`,
    "  npm start\n      again: nothing changes, unless the program has",
    ...others.map(([command, effect]) => `  npm start -- ${command}\n      ${effect}`),
  ].join("\n");
  if (name !== "up") return next;
  return `${next}

The same program against the real service (the second line gives your shell a pulumi, and with the
third you need no Pulumi account; with a token sk_test_… nothing is billed):
  cd ${relative(process.cwd(), example)}
  eval "$(npm --prefix ../.. run -s toolchain)"
  export PULUMI_BACKEND_URL=file://~
  pulumi plugin install resource ${metadata.name} ${metadata.version} --file ../../bin
  pulumi stack init dev
  pulumi config set compute:baseUrl https://…/v2
  pulumi config set --secret compute:apiToken
  pulumi up`;
}

runWithArguments(main);
