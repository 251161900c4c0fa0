/** Tests of the process's end after signals and after the engine's, with a fake process and a virtual clock. */
import { EventEmitter } from "node:events";
import { expect, test } from "@jest/globals";
import { propertyMap } from "../pulumi/propertyValue";
import type { CancelReason } from "../pulumi/calls";
import { VirtualClock } from "../testing/virtualClock";
import { afterEngineMs, afterSignalMs, exitWithEngine, idleMs } from "./shutdown";
import { withServer } from "./testing/harness";

/** A process with stdin from an engine, unless `byHand`. It records what happens, and goes on after an exit. */
function fakeProcess({ byHand = false, runningCalls = 0 } = {}) {
  const clock = new VirtualClock();
  const happened: string[] = [];
  const signals = new EventEmitter();
  const stdin = Object.assign(new EventEmitter(), { resume: () => undefined });
  const drained = Promise.withResolvers<void>();
  const server = {
    runningCalls,
    cancel: (reason: CancelReason) => void happened.push(reason),
    drain: () => drained.promise,
  };
  const exit = (code: number) => void happened.push(`exit ${code}`);
  const ownProcess = Object.assign(signals, { exit });
  exitWithEngine(server, clock, ownProcess, byHand ? undefined : stdin);
  return {
    clock,
    happened,
    server,
    drained: drained.resolve,
    signal: (signal: NodeJS.Signals) => void signals.emit(signal, signal),
    endStdin: () => void stdin.emit("close"),
    brokenStdin: () => void stdin.emit("error", new Error("EIO")),
  };
}

test.each([
  ["SIGINT", false, 0, "finished"],
  ["SIGINT", false, 1, "interrupted"],
  // The engine's signal on Windows.
  ["SIGBREAK", false, 0, "finished"],
  // A person's Ctrl-C says nothing about the engine that has attached.
  ["SIGINT", true, 0, "interrupted"],
  ["SIGTERM", false, 0, "interrupted"],
  ["SIGHUP", false, 0, "interrupted"],
  ["SIGHUP", true, 1, "interrupted"],
] as const)(
  "after %s (by hand: %s, running calls: %i), the reason is %s, and the process exits with 0 once drained",
  async (signal, byHand, runningCalls, reason) => {
    const { signal: send, happened, drained, clock } = fakeProcess({ byHand, runningCalls });
    send(signal);
    await clock.advance(0);
    expect(happened).toEqual([reason]);
    drained();
    await clock.advance(0);
    expect(happened).toEqual([reason, "exit 0"]);
  },
);

test.each([
  [0, idleMs],
  [1, afterSignalMs],
])("after a signal with %i running calls, the process exits after %i ms", async (calls, ms) => {
  const { signal, happened, clock } = fakeProcess({ runningCalls: calls });
  signal("SIGTERM");
  await clock.advance(ms - 1);
  expect(happened).toEqual(["interrupted"]);
  await clock.advance(1);
  expect(happened).toEqual(["interrupted", "exit 0"]);
});

test("the end of stdin means that the engine is gone, and running calls have 15 s, in which an id may come", async () => {
  const { endStdin, brokenStdin, happened, clock } = fakeProcess({ runningCalls: 1 });
  brokenStdin();
  endStdin();
  await clock.advance(afterEngineMs - 1);
  expect(happened).toEqual(["engineGone"]);
  await clock.advance(1);
  expect(happened).toEqual(["engineGone", "exit 0"]);
});

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "the end of stdin after a %s still says that the engine is gone, and gives no more time",
  async (name) => {
    const { signal, endStdin, happened, clock } = fakeProcess({ runningCalls: 1 });
    signal(name);
    await clock.advance(1000);
    endStdin();
    expect(happened).toEqual(["interrupted", "engineGone"]);
    await clock.advance(afterSignalMs - 1001);
    expect(happened).toHaveLength(2);
    await clock.advance(1);
    expect(happened).toEqual(["interrupted", "engineGone", "exit 0"]);
  },
);

test("a signal after the end of stdin cancels too, and shortens the time", async () => {
  const { signal, endStdin, happened, clock } = fakeProcess({ runningCalls: 1 });
  endStdin();
  signal("SIGTERM");
  await clock.advance(afterSignalMs - 1);
  expect(happened).toEqual(["engineGone", "interrupted"]);
  await clock.advance(1);
  expect(happened).toEqual(["engineGone", "interrupted", "exit 0"]);
});

test("the same signal again ends the process at once, and another one does not", async () => {
  const { signal, happened, clock } = fakeProcess({ runningCalls: 1 });
  // A supervisor may send both together.
  signal("SIGTERM");
  signal("SIGHUP");
  await clock.advance(afterSignalMs - 1);
  expect(happened).toEqual(["interrupted", "interrupted"]);
  signal("SIGTERM");
  expect(happened).toEqual(["interrupted", "interrupted", "exit 0"]);
});

test("the engine's SIGINT at its end says `finished`, also after a SIGTERM that came first", () => {
  const { signal, server, happened } = fakeProcess({ runningCalls: 1 });
  signal("SIGTERM");
  server.runningCalls = 0;
  signal("SIGINT");
  expect(happened).toEqual(["interrupted", "finished"]);
});

test("a signal while a reply waits for its messages interrupts, and the reply still reaches the engine", async () => {
  const ownProcess = Object.assign(new EventEmitter(), { exit: () => exits.resolve() });
  const exits = Promise.withResolvers<void>();
  const outputs = propertyMap({ name: "web" });
  const logging = Promise.withResolvers<void>();
  const acknowledged = Promise.withResolvers<void>();
  await withServer(
    (messages) => ({
      create: async ({ urn }) => {
        messages.warning("look", urn);
        return { id: "i-1", outputs, refreshBeforeUpdate: false };
      },
    }),
    async ({ client, server, engine, calls }) => {
      engine.beforeLog = () => {
        logging.resolve();
        return acknowledged.promise;
      };
      exitWithEngine(server, new VirtualClock(), ownProcess, undefined);
      const creating = client.create({ inputs: outputs });
      await logging.promise;
      ownProcess.emit("SIGTERM", "SIGTERM");
      acknowledged.resolve();
      expect(await creating).toMatchObject({ id: "i-1", outputs });
      await exits.promise;
      expect(calls.filter(([name]) => name === "cancel")).toEqual([["cancel", "interrupted"]]);
    },
  );
});
