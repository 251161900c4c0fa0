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
import { fileBackend } from "../../../../tools/support/ownPulumi";
import { missingGo } from "../../../../tools/support/unless";
import { canaries } from "../secrets";
import * as fromNpm from "./postgresFromNpm";
import { startProgram } from "./program";

/** A server that the tests of one file have started. */
export interface BackendServer extends AsyncDisposable {
  /** Returns another empty backend: the environment of an engine with its address, for `pulumi login`, and credentials. */
  empty(): NodeJS.ProcessEnv & { PULUMI_BACKEND_URL: string };
}

/** A kind of backend, and how to start a server for it. */
export interface BackendKind {
  title: string;
  /** Returns why this kind can't be used on this machine. Undefined if it can. */
  skipReason?(): string | undefined;
  start(): Promise<BackendServer>;
}

/** Starts a server that keeps all that it has in one folder. `serve` returns how to make the backend of a number. */
function kindOf(
  title: string,
  serve: (
    folder: string,
    onEnd: AsyncDisposableStack,
  ) => Promise<(count: number) => ReturnType<BackendServer["empty"]>>,
  skipReason?: BackendKind["skipReason"],
): BackendKind {
  async function start(): Promise<BackendServer> {
    const onEnd = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), "compute-states-"));
    onEnd.defer(() => rmSync(folder, { recursive: true, force: true }));
    const empty = await serve(folder, onEnd);
    let count = 0;
    return { empty: () => empty(count++), [Symbol.asyncDispose]: () => onEnd.disposeAsync() };
  }
  return { title, start, ...(skipReason && { skipReason }) };
}

/** A folder, which could be on a disk that runners share. */
export const file = kindOf("file", async (folder) => (count) => {
  const state = join(folder, `state-${count}`);
  mkdirSync(state);
  return { PULUMI_BACKEND_URL: fileBackend(state) };
});

const user = "runner";
const password = `word-${canaries.password}`;

/** Tables of a PostgreSQL server. If this machine has none, the server comes from npm. */
export const postgres = kindOf(
  "PostgreSQL",
  async (folder, onEnd) => {
    const data = join(folder, "data");
    const passwordFile = join(folder, "password");
    mkdirSync(data);
    writeFileSync(passwordFile, password);
    const programs = installedPrograms() ?? (await fromNpm.install(join(folder, "programs")));
    // PostgreSQL refuses to run as root.
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : undefined;
    if (nobody) {
      chmodSync(folder, 0o755);
      for (const path of [data, passwordFile]) chownSync(path, nobody.uid, nobody.gid);
    }
    const options = { ...nobody, cwd: data, env: { LC_ALL: "C" } };
    const login = [`--username=${user}`, "--auth=scram-sha-256", `--pwfile=${passwordFile}`];
    await captured(join(programs, "initdb"), ["--no-sync", ...login, data], options);

    const socket = join(data, ".s.PGSQL.5432");
    const settings = ["listen_addresses=", `unix_socket_directories=${data}`, "fsync=off"];
    const server = await startProgram(
      join(programs, "postgres"),
      ["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
      { ...options, socket, ready: "ready to accept connections" },
    );
    onEnd.use(server);
    return (count) => {
      const address = `127.0.0.1:${server.port}/postgres?sslmode=disable&table=state_${count}`;
      return { PULUMI_BACKEND_URL: `postgres://${user}@${address}`, PGPASSWORD: password };
    };
  },
  () => (installedPrograms() === undefined ? fromNpm.skipReason() : undefined),
);

/** Returns the folder of the server's programs. Undefined if this machine has none. On Debian, they are not on PATH. */
function installedPrograms(): string | undefined {
  const postgresPath = onPath("postgres");
  if (postgresPath !== undefined && onPath("initdb") !== undefined) return dirname(postgresPath);
  const [server] = globSync("/usr/lib/postgresql/*/bin/postgres").sort().reverse();
  return server === undefined ? undefined : dirname(server);
}

const secretKey = `secret-${canaries.password}`;

/** Buckets of an S3-compatible server: the Versity gateway, which stores them in a folder. */
export const s3 = kindOf(
  "S3-compatible",
  async (folder, onEnd) => {
    const [buckets, sidecars] = [join(folder, "buckets"), join(folder, "notes")];
    for (const path of [buckets, sidecars]) mkdirSync(path);
    const socket = join(folder, "socket");
    // The metadata of objects is in separate files, because not every file system can store it with the file.
    const storage = ["posix", "--sidecar", sidecars, buckets];
    const server = await startProgram(
      await ensureGoTool("versitygw"),
      ["--quiet", "--port", socket, ...storage],
      { cwd: folder, socket, env: { ROOT_ACCESS_KEY: user, ROOT_SECRET_KEY: secretKey } },
    );
    onEnd.use(server);
    return (count) => {
      const bucket = `state-${count}`;
      mkdirSync(join(buckets, bucket));
      const endpoint = `http://127.0.0.1:${server.port}`;
      return {
        PULUMI_BACKEND_URL: `s3://${bucket}?endpoint=${endpoint}&s3ForcePathStyle=true`,
        AWS_REGION: "us-east-1",
        AWS_ACCESS_KEY_ID: user,
        AWS_SECRET_ACCESS_KEY: secretKey,
      };
    };
  },
  missingGo,
);
