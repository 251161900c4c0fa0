/** Tests of the locks by key. */
import { expect, test } from "@jest/globals";
import { Canceled } from "./abort";
import { KeyedLocks } from "./locks";
import { errorOf } from "./testing/scene";

const never = new AbortController().signal;
const settlePromises = () => new Promise(setImmediate);

test("tasks of one key run one after the other, and other tasks at the same time", async () => {
  const locks = new KeyedLocks();
  const log: string[] = [];
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const first = locks.run("a", never, async () => {
    log.push("a1 begins");
    await gate;
    log.push("a1 ends");
  });
  const second = locks.run("a", never, async () => void log.push("a2"));
  await locks.run("b", never, async () => void log.push("b"));
  open();
  await Promise.all([first, second]);
  expect(log).toEqual(["a1 begins", "b", "a1 ends", "a2"]);
});

test("a task that gives up waiting does not let the next one run beside the first (G2)", async () => {
  const locks = new KeyedLocks();
  let running = 0;
  let maxRunning = 0;
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const task = async () => {
    maxRunning = Math.max(maxRunning, ++running);
    await gate;
    running--;
  };
  const first = locks.run("a", never, task);
  const impatient = new AbortController();
  const second = locks.run("a", impatient.signal, task);
  impatient.abort(new Canceled());
  expect(await errorOf(second)).toBeInstanceOf(Canceled);
  const third = locks.run("a", never, task);
  await settlePromises();
  open();
  await Promise.all([first, third]);
  expect(maxRunning).toBe(1);
});

test("after a task has failed, the next one runs", async () => {
  const locks = new KeyedLocks();
  const failed = locks.run("a", never, () => Promise.reject(new Error("no")));
  expect((await errorOf(failed)).message).toBe("no");
  expect(await locks.run("a", never, async () => "yes")).toBe("yes");
});
