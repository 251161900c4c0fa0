/** Starts a server program for a test, waits until it serves, and ends it after the test. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

interface ProgramOptions {
  uid?: number;
  gid?: number;
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** The Unix socket on which the program listens. Unlike a free port, no other program can take it meanwhile. */
  socket: string;
  /** What the program prints once it serves requests. By default, it counts as serving once it listens. */
  ready?: string;
}

/** A running server program, and the local port that leads to it. */
interface Program extends AsyncDisposable {
  port: number;
}

/** Starts a program, and waits until it serves. @throws if it ends before that */
export async function startProgram(
  command: string,
  args: readonly string[],
  { socket, ready = "", ...options }: ProgramOptions,
): Promise<Program> {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  let failure = "";
  child.on("error", ({ message }) => (failure = message));
  const isRunning = () => failure === "" && child.exitCode === null && child.signalCode === null;
  const ended = once(child, "close").catch(() => undefined);

  while (!output.includes(ready) || !(await isListening(socket))) {
    if (!isRunning()) throw new Error(`${command} does not start: ${failure}\n${output}`);
    await sleep(20);
  }
  const proxy = await startProxy(socket);
  return {
    port: proxy.port,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      // For PostgreSQL, SIGINT means to end without waiting for its clients.
      child.kill("SIGINT");
      await ended;
    },
  };
}

/** Whether a program listens on the Unix socket. */
async function isListening(socket: string): Promise<boolean> {
  const connection = connect(socket);
  try {
    await once(connection, "connect");
    return true;
  } catch {
    return false;
  } finally {
    connection.destroy();
  }
}

/** Forwards connections from a port, which the system chooses, to the Unix socket. */
async function startProxy(socket: string): Promise<Program> {
  const open = new Set<Socket>();
  const server = createServer((outer) => {
    const inner = connect(socket);
    for (const [end, other] of [[outer, inner] as const, [inner, outer] as const]) {
      open.add(end);
      end.on("error", () => other.destroy()).on("close", () => open.delete(end));
      end.pipe(other);
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const end of open) end.destroy();
    },
  };
}
