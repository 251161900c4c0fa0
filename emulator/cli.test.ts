/** Tests the emulator as a process: its output, its exit codes and its flags. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { posixTest } from "../tools/support/unless";
import { parseCommandLine } from "./cli";
import { startEmulator, type EmulatorOptions } from "./index";
import { optionFlags } from "./options";
import { caller } from "./testClient";

const root = join(__dirname, "..");
const running = new Set<ReturnType<typeof spawn>>();
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
});

function start(...args: string[]) {
  const child = spawn(process.execPath, ["--import", "tsx", "tools/emulator.ts", ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (output.stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (output.stderr += String(chunk)));
  const ended = new Promise<number | null>((resolve) =>
    child.on("close", (code) => {
      running.delete(child);
      resolve(code);
    }),
  );
  const firstLine = new Promise<string>((resolve) => {
    createInterface(child.stdout).once("line", resolve);
  });
  const ready = firstLine.then((line) => ({ url: /http:\/\/\S+\/v2/.exec(line)?.[0] ?? "" }));
  return { child, output, ended, ready };
}

describe("the process", () => {
  posixTest(
    "prints its address, its page and how to use it, and stops at SIGINT with code 0",
    async () => {
      const { child, output, ended, ready } = start("--port", "0", "--log");
      const { url } = await ready;
      expect(output.stdout.split("\n")).toEqual([
        `Compute emulator ready at ${url} (in memory; Ctrl-C stops it)`,
        `Its page: ${new URL("/", url).origin}`,
        `To use it: export COMPUTE_BASE_URL=${url} COMPUTE_API_TOKEN=sk_test_emulator`,
        "",
      ]);
      const faults = new URL("/control/faults", url);
      await fetch(faults, { method: "POST", body: '{"kind": "hang", "method": "POST"}' });
      await caller({ url }).ask("GET", "/account");
      // The emulator stops although a connection is idle and a request hangs.
      const hanging = caller({ url }).create("a");
      hanging.catch(() => undefined);
      while (!(await (await fetch(faults)).text()).includes('"hits":1')) await pause(5);
      child.kill("SIGINT");
      await expect(hanging).rejects.toThrow();
      expect(await ended).toBe(0);
      expect(output.stderr).toBe("");
      expect(output.stdout).toMatch(/GET \/v2\/account 200 token=test req_/);
      expect(output.stdout).not.toContain("sk_test_acme");
    },
  );

  posixTest(
    "keeps its instances in a file, even when it is killed, and stops at SIGTERM with code 0",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "emulator-"));
      try {
        const args = ["--port", "0", "--database", join(folder, "state.db")];
        const first = start(...args);
        const { status } = await caller({ url: (await first.ready).url }).create("kept");
        expect(status).toBe(202);
        first.child.kill("SIGKILL");
        await first.ended;
        const second = start(...args);
        expect(await caller({ url: (await second.ready).url }).names()).toEqual(["kept"]);
        second.child.kill("SIGTERM");
        expect(await second.ended).toBe(0);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

  test("a port in use is reported in one line, with exit code 1", async () => {
    await using other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const port = String((other.address() as { port: number }).port);
    const { output, ended } = start("--port", port);
    expect(await ended).toBe(1);
    expect(output.stderr).toBe(
      `emulator: 127.0.0.1:${port} is already in use. For any free port: npm run emulator -- --port 0\n`,
    );
  });

  test.each([
    [
      ["--list-order", "sideways"],
      /^emulator: --list-order must be one of .* \(see `npm run emulator -- --help`\)\n$/,
    ],
    [
      ["--database", "/no/x.db"],
      /^emulator: --database \/no\/x.db can't be used: the folder .*\)\n$/,
    ],
    [["--prt", "1"], /^emulator: unknown option '--prt' \(Did you mean --port\?\) .*\)\n$/],
    [["--log=x"], /^emulator: --log takes no value \(see `npm run.*--help`\)\n$/],
  ])(
    "%j is reported in one line under the name of its flag, with exit code 2",
    async (args, says) => {
      const { output, ended } = start(...args);
      expect(await ended).toBe(2);
      expect(output).toEqual({ stdout: "", stderr: expect.stringMatching(says) });
    },
  );

  test("an unknown option is reported without what may be a token", async () => {
    for (const arg of ["--token-file=sk_live_Canary", "--sk_live_Canary"]) {
      const { output, ended } = start(arg);
      expect(await ended).toBe(2);
      expect(output).toEqual({
        stdout: "",
        stderr: expect.stringMatching(
          /^emulator: unknown option(?!.*Canary).* \(see `npm run.*--help`\)\n$/,
        ),
      });
    }
  });

  test("--help names every option", async () => {
    const { output, ended } = start("--help");
    expect(await ended).toBe(0);
    expect(output.stdout).toMatch(/^Usage: npm run emulator -- \[options\]$/m);
    for (const { flag } of optionFlags)
      expect(output.stdout).toMatch(new RegExp(`^  ${flag.replace("|", "\\|")} `, "m"));
    expect(output.stdout.replace(/\s+/g, " ")).toMatch(/--port <number> .*? \(default: 8420\)/);
  });

  test("on all addresses, its URL is on loopback, because the provider allows plain http there", async () => {
    const { ready } = start("--port", "0", "--host", "0.0.0.0");
    const { url } = await ready;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v2$/);
    expect((await caller({ url }).ask("GET", "/account")).status).toBe(200);
  });
});

describe("the command line", () => {
  const read = (...args: string[]) => parseCommandLine(args, "emulator");

  test("sets the option of each flag", () => {
    expect(
      read(
        ...["--provisioning-seconds", "2-8", "--no-mac-addresses", "--list-order", "newest"],
        ...["--token", "sk_test_a=revoked", "--token", "sk_test_b=list,create"],
        ...["--destroy-path", "/v2/instances/{id}", "--rate-window", "fixed"],
        ...["--status-between", "BOOTING=2", "--address-seconds", "3", "--unique-names"],
      ),
    ).toMatchObject({
      provisioningSeconds: [2, 8],
      macAddresses: false,
      listOrder: "newest",
      tokens: { sk_test_a: { state: "revoked" }, sk_test_b: { scopes: ["list", "create"] } },
      destroyPath: "/v2/instances/{id}",
      rateWindow: "fixed",
      statusesBetween: [{ status: "BOOTING", seconds: 2 }],
      addressSeconds: 3,
      uniqueNames: true,
    });
  });

  test("sets which names end OFFLINE", () => {
    const { endStatus } = read("--offline", "db-*", "--offline", "x");
    const ends = typeof endStatus === "function" ? endStatus : () => undefined;
    expect(["db-1", "x", "web-1"].map(ends)).toEqual(["OFFLINE", "OFFLINE", "ACTIVE"]);
  });

  test("without flags, each option has its default, and the port is always the same", () => {
    const { clock, random, errorLog, ...settings } = read();
    expect(settings).toMatchObject({ port: 8420, host: "127.0.0.1", provisioningSeconds: 5 });
    expect([typeof clock.now(), typeof random(), typeof errorLog]).toEqual([
      ...["number", "number", "function"],
    ]);
  });

  test.each([
    ["--port", "http", 'port must be a whole number from 0 to 65535, not "http"'],
    ["--port", "70000", "port must be a whole number from 0 to 65535, not 70000"],
    ["--provisioning-seconds", "soon", /^provisioningSeconds must be seconds .* not "soon"$/],
    ["--provisioning-seconds", "8-2", /^provisioningSeconds must be .* not "8-2"$/],
    ["--requests-per-minute=-5", "", 'requestsPerMinute must be 1 or more, not "-5"'],
    ["--rate-window", "round", 'rateWindow must be one of sliding, fixed, not "round"'],
    ["--cursor-parameter", "limit", /other than limit and status, not "limit"$/],
    ["--destroy-path", "/v2/instances", /^destroyPath must be a path .* contains \{id\}, not/],
    ["--token", "sk_test_a=sometimes", /^tokens must be <token>=<what>, such as (?!.*sk_test_a)/],
    ["--status-between", "BOOTING", /^statusesBetween must be <status>=<seconds>/],
    ["--token", "sk_test_a", /^tokens must be <token>=<what>, such as (?!.*sk_test_a)/],
    ["--unknown", "", /unknown option/],
    ["stray", "", /too many arguments/],
  ])("refuses %s %s", (flag, value, message) => {
    expect(() => read(flag, ...(value === "" ? [] : [value]))).toThrow(message);
  });

  test("an option that does not exist is refused in code too", async () => {
    const options = { ports: 1 } as EmulatorOptions;
    await expect(startEmulator(options)).rejects.toThrow(/^there is no option ports; .* port, /);
  });
});
