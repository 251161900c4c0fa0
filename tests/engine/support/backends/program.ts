/** A server program of a test: started, waited for, and ended with all that it holds. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

interface User {
  uid?: number;
  gid?: number;
}

export interface ProgramOptions extends User {
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Where it listens, in the file system: no other program can be given its port. */
  socket: string;
  /** What it prints once it serves; left out where it does as soon as it listens. */
  ready?: string;
}

/** A port on loopback that leads to the program. */
export interface Program extends AsyncDisposable {
  port: number;
}

export async function startProgram(
  command: string,
  args: readonly string[],
  { socket, ready = "", ...options }: ProgramOptions,
): Promise<Program> {
  const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding("utf8").on("data", (text: string) => (said += text));
  }
  let failure = "";
  child.on("error", ({ message }) => (failure = message));
  const runs = () => failure === "" && child.exitCode === null && child.signalCode === null;
  const ended = once(child, "close").catch(() => undefined);

  while (!said.includes(ready) || !(await listens(socket))) {
    if (!runs()) throw new Error(`${command} does not start: ${failure}\n${said}`);
    await sleep(20);
  }
  const door = await openDoor(socket);
  return {
    port: door.port,
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]();
      // To PostgreSQL, that it waits for nobody.
      child.kill("SIGINT");
      await ended;
    },
  };
}

async function listens(socket: string): Promise<boolean> {
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

/** Passes on what comes to a port that the system has chosen. */
async function openDoor(socket: string): Promise<Program> {
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
