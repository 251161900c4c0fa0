/** Starts the state backends of the tests: a folder, tables of PostgreSQL, and buckets of an S3-compatible server. */
import {
  chmodSync,
  chownSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ensureGoTool } from "../../../../tools/go/tools";
import { captured } from "../../../../tools/support/command";
import { onPath } from "../../../../tools/support/onPath";
import { missingGo } from "../../../../tools/support/unless";
import { canaries } from "../secrets";
import * as fromNpm from "./postgresFromNpm";
import { startProgram } from "./program";

/** A state backend for one test: an empty folder, table or bucket. */
export interface Backend {
  /** The argument of `pulumi login`. */
  url: string;
  /** The environment of an engine that uses the backend: its address and its credentials. */
  env: NodeJS.ProcessEnv;
}

/** A server that the tests of one file have started, with the backends on it. */
export interface BackendServer extends AsyncDisposable {
  /** Returns another empty backend. */
  empty(): Backend;
}

/** A kind of backend, and how to start a server for it. */
export interface BackendKind {
  title: string;
  /** Returns why this kind can't be used on this machine. Undefined if it can. */
  skipReason?(): string | undefined;
  start(): Promise<BackendServer>;
}

// ── A folder, which could be on a disk that runners share.

export const file: BackendKind = {
  title: "file",
  async start() {
    const folder = mkdtempSync(join(tmpdir(), "compute-states-"));
    let count = 0;
    return {
      empty() {
        const state = join(folder, `state-${count++}`);
        mkdirSync(state);
        const url = `file://${state}`;
        return { url, env: { PULUMI_BACKEND_URL: url } };
      },
      async [Symbol.asyncDispose]() {
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

// ── Tables of a PostgreSQL server. If this machine has none, the server comes from npm.

const user = "runner";
const password = `word-${canaries.password}`;

export const postgres: BackendKind = {
  title: "PostgreSQL",
  skipReason: () => (installedPrograms() === undefined ? fromNpm.skipReason() : undefined),
  async start() {
    const folder = mkdtempSync(join(tmpdir(), "compute-postgres-"));
    const data = join(folder, "data");
    const passwordFile = join(folder, "password");
    mkdirSync(data);
    writeFileSync(passwordFile, password);
    const programs = installedPrograms() ?? (await fromNpm.install(join(folder, "programs")));
    // PostgreSQL refuses to run as root.
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
    if (nobody) {
      chmodSync(folder, 0o755);
      for (const it of [data, passwordFile]) chownSync(it, nobody.uid, nobody.gid);
    }
    const options = { ...nobody, cwd: data, env: { LC_ALL: "C" } };
    const login = [`--username=${user}`, "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
    await captured(join(programs, "initdb"), ["--no-sync", ...login, data], options);
    rmSync(passwordFile);

    const socket = join(data, ".s.PGSQL.5432");
    const settings = ["listen_addresses=", `unix_socket_directories=${data}`, "fsync=off"];
    const server = await startProgram(
      join(programs, "postgres"),
      ["-D", data, ...settings.flatMap((it) => ["-c", it])],
      { ...options, socket, ready: "ready to accept connections" },
    );
    let count = 0;
    return {
      empty() {
        const address = `127.0.0.1:${server.port}/postgres?sslmode=disable&table=state_${count++}`;
        const url = `postgres://${user}@${address}`;
        return { url, env: { PULUMI_BACKEND_URL: url, PGPASSWORD: password } };
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

/** Returns the folder of the server's programs. Undefined if this machine has none. On Debian, they are not on PATH. */
function installedPrograms(): string | undefined {
  const postgresPath = onPath("postgres");
  if (postgresPath !== undefined && onPath("initdb") !== undefined) return dirname(postgresPath);
  const [server] = globSync("/usr/lib/postgresql/*/bin/postgres").sort().reverse();
  return server === undefined ? undefined : dirname(server);
}

// ── Buckets of an S3-compatible server: the Versity gateway, which stores them in a folder.

const credentials = { access: "runner", secret: `secret-${canaries.password}` };

export const s3: BackendKind = {
  title: "S3-compatible",
  skipReason: missingGo,
  async start() {
    const gateway = await ensureGoTool("versitygw");
    const folder = mkdtempSync(join(tmpdir(), "compute-s3-"));
    const [buckets, sidecars] = [join(folder, "buckets"), join(folder, "notes")];
    for (const it of [buckets, sidecars]) mkdirSync(it);
    const socket = join(folder, "socket");
    // The metadata of objects is in separate files, because not every file system can store it with the file.
    const storage = ["posix", "--sidecar", sidecars, buckets];
    const server = await startProgram(gateway, ["--quiet", "--port", socket, ...storage], {
      cwd: folder,
      socket,
      env: { ROOT_ACCESS_KEY: credentials.access, ROOT_SECRET_KEY: credentials.secret },
    });
    let count = 0;
    return {
      empty() {
        const bucket = `state-${count++}`;
        mkdirSync(join(buckets, bucket));
        const endpoint = `http://127.0.0.1:${server.port}`;
        const url = `s3://${bucket}?endpoint=${endpoint}&s3ForcePathStyle=true`;
        return {
          url,
          env: {
            PULUMI_BACKEND_URL: url,
            AWS_REGION: "us-east-1",
            AWS_ACCESS_KEY_ID: credentials.access,
            AWS_SECRET_ACCESS_KEY: credentials.secret,
          },
        };
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};
