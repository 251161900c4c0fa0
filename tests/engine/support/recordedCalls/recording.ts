/** A test fixture whose plugin calls are recorded and compared with recordedCalls.json. */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { temporaryFolder } from "../../../../provider/testing/temporaryFolder";
import { readIfThere } from "../../../../tools/support/files";
import { nodeBin } from "../../../../tools/support/paths";
import { Fixture, type FixtureOptions } from "../fixture";
import { readCalls } from "./callLog";
import { answerOf, callsOf, kindOf, sessionsOf, type Sessions } from "./sessions";

/** The content of recordedCalls.json. */
interface RecordedCalls {
  engine: string;
  /** For each kind of call, a sentence on what it proves. */
  proves: Record<string, string>;
  /** For each kind of answer except a plain success, a sentence on what it means. */
  answers: Record<string, string>;
  operations: Record<string, Sessions>;
}

const file = join(__dirname, "..", "..", "recordedCalls.json");

/** Whether calls are recorded, and not compared. */
const isRecording = Boolean(process.env["COMPUTE_RECORD"]);

export const recordedCalls = JSON.parse(readFileSync(file, "utf8")) as RecordedCalls;

const recorded: Record<string, Sessions> = {};

/** A fixture, and a function that runs an operation and expects the calls that recordedCalls.json has for it. */
export async function recording(options: FixtureOptions = {}) {
  // The log has secrets in clear text, so it is not in the folder of the stack.
  const log = join(temporaryFolder(), "log");
  const fixture = await Fixture.create({ ...options, env: { PULUMI_DEBUG_GRPC: log } });
  const before: ReturnType<typeof readCalls> = [];
  const read = () => {
    const calls = readCalls(readIfThere(log) ?? "");
    rmSync(log, { force: true });
    return calls;
  };
  async function expectCalls(operation: string, run: () => Promise<unknown>): Promise<void> {
    // Calls of earlier commands are not part of the operation.
    before.push(...read());
    await run();
    const calls = read();
    const sessions = sessionsOf(calls, before);
    before.push(...calls);
    if (isRecording) recorded[operation] = sessions;
    else {
      const expected = recordedCalls.operations[operation] ?? [];
      expect({ [operation]: callsOf(sessions) }).toEqual({ [operation]: callsOf(expected) });
    }
  }
  return Object.assign(fixture, { expectCalls });
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
  const pulumi = process.env["COMPUTE_TEST_PULUMI"] ?? "pulumi";
  const engine = execFileSync(pulumi, ["version"], { encoding: "utf8" }).trim();
  const operations = { ...recordedCalls.operations, ...recorded };
  Object.assign(recordedCalls, withSentences({ ...recordedCalls, engine, operations }));
  writeFileSync(file, JSON.stringify(recordedCalls));
  execFileSync(join(nodeBin, "prettier"), ["--write", file]);
}
