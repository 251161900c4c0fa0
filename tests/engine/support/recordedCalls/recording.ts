/** A test fixture whose plugin calls are recorded and compared with recordedCalls.json. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { expect } from "@jest/globals";
import { executable } from "../../../../provider/executable";
import { writeWhole } from "../../../../tools/support/files";
import { nodeBin, toolsDir } from "../../../../tools/support/paths";
import { gone } from "../processes";
import { plugin } from "../stack";
import { Fixture, type FixtureOptions } from "../fixture";
import type { LogLine } from "./callLog";
import { answerOf, callsOf, kindOf, sessionsOf, type Sessions } from "./sessions";

/** The content of recordedCalls.json. */
interface RecordedCalls {
  /** The version of the engine that was recorded. */
  engine: string;
  /** For each kind of call, a sentence on what it proves. */
  proves: Record<string, string>;
  /** For each kind of answer except a plain success, a sentence on what it means. */
  answers: Record<string, string>;
  /** The calls of each operation. */
  operations: Record<string, Sessions>;
}

const file = join(__dirname, "..", "..", "recordedCalls.json");

/** Whether calls are recorded, and not compared. */
const isRecording = Boolean(process.env["COMPUTE_RECORD"]);

export const recordedCalls = JSON.parse(readFileSync(file, "utf8")) as RecordedCalls;

/** The calls recorded in this run, by operation. */
const recorded: Record<string, Sessions> = {};

/** A fixture whose engine starts the recorder instead of the plugin. */
export class CallRecording implements AsyncDisposable {
  readonly #folder: string;
  /** The number of log lines that belong to earlier operations. */
  #linesRead = 0;

  private constructor(
    readonly fixture: Fixture,
    /** The path of the recorder, which has the name of the plugin. */
    readonly executable: string,
    folder: string,
  ) {
    this.#folder = folder;
  }

  static async create(options: FixtureOptions): Promise<CallRecording> {
    const folder = mkdtempSync(join(tmpdir(), "compute-recording-"));
    const path = join(folder, executable);
    const command = [process.execPath, recorder(), plugin, join(folder, "log")];
    const quoted = command.map((part) => `'${part}'`).join(" ");
    writeFileSync(path, `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
    const fixture = await Fixture.create({ ...options, pluginFolder: folder });
    return new CallRecording(fixture, path, folder);
  }

  /** Runs an operation and expects the calls that recordedCalls.json has for it. */
  async expectCalls(operation: string, run: () => Promise<unknown>): Promise<void> {
    // Calls of earlier commands are not part of the operation.
    await this.#newLines();
    const before = this.#all();
    await run();
    const sessions = sessionsOf(await this.#newLines(), before);
    if (isRecording) {
      recorded[operation] = sessions;
      return;
    }
    const expected = recordedCalls.operations[operation] ?? [];
    expect({ [operation]: callsOf(sessions) }).toEqual({ [operation]: callsOf(expected) });
  }

  /** Waits until every plugin process has ended, and returns the lines since the last call of this method. */
  async #newLines(): Promise<LogLine[]> {
    await gone(this.#all().map((line) => line.process));
    const all = this.#all();
    const lines = all.slice(this.#linesRead);
    this.#linesRead = all.length;
    return lines;
  }

  /** Returns all lines of the log so far. */
  #all(): LogLine[] {
    const file = join(this.#folder, "log");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as LogLine);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.fixture[Symbol.asyncDispose]();
      await this.#newLines();
    } finally {
      rmSync(this.#folder, { recursive: true, force: true });
    }
  }
}

/** Bundles the recorder into one file, which starts quickly, and returns its path. */
function recorder(): string {
  const entryPoints = [join(__dirname, "recorder.ts")];
  const { outputFiles } = buildSync({ entryPoints, bundle: true, platform: "node", write: false });
  // Because of this path, support/processes.ts treats the recorder as the plugin.
  const bundle = join(toolsDir, "scratch", "recorder", "bin", "start.js");
  writeWhole(bundle, outputFiles[0]?.text ?? "");
  return bundle;
}

/** Returns a sentence for each key: the existing sentence, or an empty one, which a person has to fill in. */
function sentences(
  neededKeys: readonly (string | undefined)[],
  existing: Readonly<Record<string, string>>,
): Record<string, string> {
  const keys = new Set(neededKeys.filter((key) => key !== undefined));
  return Object.fromEntries([...keys].sort().map((key) => [key, existing[key] ?? ""]));
}

/** Returns the recorded calls with sentences for exactly the kinds of call and answer that occur. */
export function withSentences({ operations, ...rest }: RecordedCalls): RecordedCalls {
  const texts = Object.values(operations).flatMap(callsOf).flat();
  const proves = sentences(texts.map(kindOf), rest.proves);
  return { ...rest, proves, answers: sentences(texts.map(answerOf), rest.answers), operations };
}

/** If COMPUTE_RECORD is set, rewrites recordedCalls.json. The sentences in it stay. */
export function saveRecorded(): void {
  if (!isRecording) return;
  const engine = execFileSync(process.env["COMPUTE_TEST_PULUMI"] ?? "pulumi", ["version"], {
    encoding: "utf8",
  }).trim();
  const operations = { ...recordedCalls.operations, ...recorded };
  Object.assign(recordedCalls, withSentences({ ...recordedCalls, engine, operations }));
  writeFileSync(file, JSON.stringify(recordedCalls));
  execFileSync(join(nodeBin, "prettier"), ["--write", file]);
}
