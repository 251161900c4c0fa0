/** The state backends that the tests log into: a folder, tables of PostgreSQL, buckets of an S3-compatible server. */
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
import { lackOfGo } from "../../../../tools/support/unless";
import { canaries } from "../secrets";
import * as fromNpm from "./postgresFromNpm";
import { startProgram } from "./program";

/** One that nothing else uses: an empty folder, table or bucket. */
export interface Backend {
  /** As a person gives it to `pulumi login`. */
  url: string;
  /** What the engine needs to use it, address and credentials. */
  env: NodeJS.ProcessEnv;
}

/** What holds the backends of a test file: a server that the tests have started. */
export interface BackendServer extends AsyncDisposable {
  /** Another empty one. */
  empty(): Backend;
}

export interface BackendKind {
  title: string;
  /** Why it can't be had on this machine; undefined where it can. */
  hindrance?(): string | undefined;
  start(): Promise<BackendServer>;
}

// ── A folder, as on a disk that the runners share

export const file: BackendKind = {
  title: "file",
  async start() {
    const folder = mkdtempSync(join(tmpdir(), "compute-states-"));
    let made = 0;
    return {
      empty() {
        const state = join(folder, `state-${made++}`);
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

// ── Tables of a PostgreSQL server: this machine's program, or else the one that npm has.

const user = "runner";
const password = `word-${canaries.password}`;

export const postgres: BackendKind = {
  title: "PostgreSQL",
  hindrance: () => (installed() === undefined ? fromNpm.hindrance() : undefined),
  async start() {
    const folder = mkdtempSync(join(tmpdir(), "compute-postgres-"));
    const data = join(folder, "data");
    const asked = join(folder, "password");
    mkdirSync(data);
    writeFileSync(asked, password);
    const programs = installed() ?? (await fromNpm.install(join(folder, "programs")));
    // It refuses to run as root.
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
    if (nobody) {
      chmodSync(folder, 0o755);
      for (const it of [data, asked]) chownSync(it, nobody.uid, nobody.gid);
    }
    const how = { ...nobody, cwd: data, env: { LC_ALL: "C" } };
    const login = [`--username=${user}`, "--auth=scram-sha-256", `--pwfile=${asked}`];
    await captured(join(programs, "initdb"), ["--no-sync", ...login, data], how);
    rmSync(asked);

    const socket = join(data, ".s.PGSQL.5432");
    const settings = ["listen_addresses=", `unix_socket_directories=${data}`, "fsync=off"];
    const server = await startProgram(
      join(programs, "postgres"),
      ["-D", data, ...settings.flatMap((it) => ["-c", it])],
      { ...how, socket, ready: "ready to accept connections" },
    );
    let made = 0;
    return {
      empty() {
        const place = `127.0.0.1:${server.port}/postgres?sslmode=disable&table=state_${made++}`;
        const url = `postgres://${user}@${place}`;
        return { url, env: { PULUMI_BACKEND_URL: url, PGPASSWORD: password } };
      },
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

/** Where the server's programs are; Debian keeps them off PATH. */
function installed(): string | undefined {
  const onPaths = onPath("postgres");
  if (onPaths !== undefined && onPath("initdb") !== undefined) return dirname(onPaths);
  const [server] = globSync("/usr/lib/postgresql/*/bin/postgres").sort().reverse();
  return server === undefined ? undefined : dirname(server);
}

// ── Buckets of an S3-compatible server: Versity's gateway, over a folder.

const credentials = { access: "runner", secret: `secret-${canaries.password}` };

export const s3: BackendKind = {
  title: "S3-compatible",
  hindrance: lackOfGo,
  async start() {
    const gateway = await ensureGoTool("versitygw");
    const folder = mkdtempSync(join(tmpdir(), "compute-s3-"));
    const [buckets, notes] = [join(folder, "buckets"), join(folder, "notes")];
    for (const it of [buckets, notes]) mkdirSync(it);
    const socket = join(folder, "socket");
    // Its notes of each object: not every file system keeps them with the file.
    const storage = ["posix", "--sidecar", notes, buckets];
    const server = await startProgram(gateway, ["--quiet", "--port", socket, ...storage], {
      cwd: folder,
      socket,
      env: { ROOT_ACCESS_KEY: credentials.access, ROOT_SECRET_KEY: credentials.secret },
    });
    let made = 0;
    return {
      empty() {
        const bucket = `state-${made++}`;
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
