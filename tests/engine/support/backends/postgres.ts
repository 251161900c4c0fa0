/** Tables of a PostgreSQL server: this machine's program, or else the one that npm has. */
import {
  chownSync,
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { captured } from "../../../../tools/support/command";
import { onPath } from "../../../../tools/support/onPath";
import { canaries } from "../secrets";
import type { BackendKind } from "./backend";
import * as fromNpm from "./postgresFromNpm";
import { startProgram } from "./program";

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
