/** A test fixture whose plugin calls are recorded and compared with recordedCalls.json. */
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { temporaryFolder } from "../../../../provider/testing/temporaryFolder";
import { readIfThere } from "../../../../tools/support/files";
import { nodeBin } from "../../../../tools/support/paths";
import { Fixture, type FixtureOptions } from "../fixture";
import { engineAtHand } from "../stack";
import { readCalls } from "./callLog";
import {
  allConversations,
  conversationOf,
  isOtherEngine,
  readConversation,
  withoutOccasions,
  writeConversation,
} from "./conversation";
import { answerOf, kindOf, sessionsOf } from "./sessions";

/** The content of recordedCalls.json. */
interface RecordedCalls {
  /** For each kind of call, a sentence on what it proves. */
  proves: Record<string, string>;
  /** For each kind of answer except a plain success, a sentence on what it means. */
  answers: Record<string, string>;
}

const file = join(__dirname, "..", "..", "recordedCalls.json");

/** Whether calls are recorded, and not compared. */
const isRecording = Boolean(process.env["COMPUTE_RECORD"]);

/** Why no calls are compared. Undefined if they are, or are recorded. */
export const noComparison =
  isOtherEngine && !isRecording ? "an engine before 3.274 makes other calls" : undefined;

export const recordedCalls = JSON.parse(readFileSync(file, "utf8")) as RecordedCalls;

/** A fixture, and a function that runs a command and expects the calls of its conversation. */
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
  async function expectCalls(command: string, run: () => Promise<unknown>): Promise<void> {
    // Calls of earlier commands are not part of the conversation.
    before.push(...read());
    await run();
    const logged = read();
    const calls = conversationOf(logged, before);
    before.push(...logged);
    if (isRecording) writeConversation({ engine: `v${engineAtHand}`, command, calls });
    else {
      const expected = withoutOccasions(readConversation(command).calls);
      expect({ [command]: calls }).toEqual({ [command]: expected });
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

/** Returns the recorded calls with sentences for exactly the kinds of call and answer that the conversations have. */
export function withSentences({ proves, answers }: RecordedCalls): RecordedCalls {
  const texts = allConversations().flatMap(({ calls }) => sessionsOf(calls).flat());
  return {
    proves: sentences(texts.map(kindOf), proves),
    answers: sentences(texts.map(answerOf), answers),
  };
}

/** If COMPUTE_RECORD is set, rewrites recordedCalls.json. The sentences in it stay. */
export function saveRecorded(): void {
  if (!isRecording) return;
  Object.assign(recordedCalls, withSentences(recordedCalls));
  writeFileSync(file, JSON.stringify(recordedCalls));
  execFileSync(join(nodeBin, "prettier"), ["--write", file]);
}
