/** Tests of the messages to the engine, with a test engine over a real socket. */
import { expect, test } from "@jest/globals";
import { heapAfterCollection } from "../testing/heap";
import { VirtualClock } from "../testing/virtualClock";
import { systemClock } from "../clock";
import { OperationFailed } from "../errors";
import { propertyMap } from "../pulumi/propertyValue";
import { Redactor } from "../redaction";
import { EngineLog, maxMessageLength } from "./engineLog";
import { instanceUrn } from "./testing/client";
import { TestEngine } from "./testing/engine";
import { withServer } from "./testing/harness";

const inputs = propertyMap({});

async function withEngine(
  body: (
    engine: TestEngine,
    log: EngineLog,
    parts: { redactor: Redactor; clock: VirtualClock },
  ) => Promise<void>,
): Promise<void> {
  const engine = await TestEngine.start();
  // The clock stands still, so that no message is dropped because the machine is busy.
  const parts = { redactor: new Redactor(), clock: new VirtualClock() };
  const log = new EngineLog(parts.redactor, parts.clock);
  log.attach(engine.address);
  try {
    await body(engine, log, parts);
  } finally {
    log.close();
    engine.stop();
  }
}

test("each kind of message has its severity, and none is an error", async () => {
  await withEngine(async (engine, log) => {
    log.status(instanceUrn, "PROVISIONING (5 s)");
    log.info("hello", instanceUrn);
    log.warning("careful");
    log.debug("details");
    await log.flush();
    expect(engine.logged).toHaveLength(4);
    expect(engine.logged).toEqual(
      expect.arrayContaining([
        { severity: "info", message: "PROVISIONING (5 s)", urn: instanceUrn, ephemeral: true },
        { severity: "info", message: "hello", urn: instanceUrn, ephemeral: false },
        { severity: "warning", message: "careful", urn: "", ephemeral: false },
        { severity: "debug", message: "details", urn: "", ephemeral: false },
      ]),
    );
  });
});

test("an engine has a version in a range only if it says so: an older one can't, and one that is gone does not", async () => {
  await withEngine(async (engine, log) => {
    engine.ranges.add(">=3.231.0");
    expect(await log.isOfVersion(">=3.231.0")).toBe(true);
    expect(await log.isOfVersion(">=4.0.0")).toBe(false);
    engine.stop();
    expect(await log.isOfVersion(">=3.231.0")).toBe(false);
    log.close();
    expect(await log.isOfVersion(">=3.231.0")).toBe(false);
  });
  const older = await TestEngine.start(false);
  const log = new EngineLog(new Redactor(), new VirtualClock());
  log.attach(older.address);
  expect(await log.isOfVersion(">=3.231.0")).toBe(false);
  log.close();
  older.stop();
});

test("secrets are removed from a message when it is written, a long line is cut, and a long list is whole", async () => {
  await withEngine(async (engine, log, { redactor }) => {
    redactor.hide("sk_live_12345678");
    log.warning("\u001b[2Jtoken sk_live_12345678");
    log.debug("x".repeat(maxMessageLength * 2));
    const list = Array.from({ length: maxMessageLength }, (_, index) => `i-${index}`);
    log.info(list);
    await log.flush();
    expect(engine.logged.map(({ message }) => message)).toEqual([
      "[2Jtoken [secret]",
      `${"x".repeat(maxMessageLength - 1)}…`,
      list.join("\n"),
    ]);
  });
});

test("the messages of one resource arrive in the order in which they were written", async () => {
  await withEngine(async (engine, log) => {
    engine.beforeLog = async (message) => systemClock.sleep(20 - Number(message) * 2);
    const texts = Array.from({ length: 10 }, (_, index) => String(index));
    for (const text of texts) log.warning(text, instanceUrn);
    await log.flush();
    expect(engine.logged.map(({ message }) => message)).toEqual(texts);
  });
});

test("while the engine holds up a message, a newer status replaces one that waits, debug lines are sent together, and nothing else is lost", async () => {
  await withEngine(async (engine, log) => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const { promise: isHeldUp, resolve: holdUp } = Promise.withResolvers<void>();
    engine.beforeLog = async () => {
      holdUp();
      await isReleased;
    };
    log.status("", "first");
    await isHeldUp;
    log.status("", "PROVISIONING, 1 s");
    log.status("", "PROVISIONING, 2 s");
    log.debug("GET 1");
    log.debug("GET 2");
    log.warning("careful");
    log.debug("GET 3");
    log.warning("once more");
    log.warning("and again");
    log.status("", "ACTIVE");
    release();
    await log.flush();
    expect(engine.logged.map(({ message }) => message)).toEqual([
      "first",
      "PROVISIONING, 2 s",
      "GET 1\nGET 2",
      "careful",
      "GET 3",
      "once more",
      "and again",
      "ACTIVE",
    ]);
  });
});

test("a debug line has no secret of the time when it was written, even if it is sent later", async () => {
  await withEngine(async (engine, log, { redactor }) => {
    const hidden = redactor.hide("a script of one run");
    log.debug("refused: a script of one run");
    hidden[Symbol.dispose]();
    await log.flush();
    expect(engine.logged.map(({ message }) => message)).toEqual(["refused: [secret]"]);
  });
});

test("a message that the engine holds up delays no other resource's messages", async () => {
  await withEngine(async (engine, log) => {
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const { promise: otherArrived, resolve: arrive } = Promise.withResolvers<void>();
    engine.beforeLog = async (message) => {
      if (message === "other") arrive();
      else await isReleased;
    };
    log.status(instanceUrn, "held up");
    log.status(`${instanceUrn}-2`, "other");
    await otherArrived;
    release();
    await log.flush();
    expect(engine.logged).toHaveLength(2);
  });
});

test.each(["answer", "failure"])(
  "a warning that a call writes just before its %s reaches the engine first",
  async (end) => {
    let hasArrived = false;
    let arrivedBeforeEnd: boolean | undefined;
    const script = (messages: { warning(text: string): void }) => ({
      delete: async () => {
        messages.warning("still billed");
        if (end === "failure") throw new OperationFailed("no");
      },
    });
    await withServer(script, async ({ client, engine }) => {
      engine.beforeLog = async () => {
        await systemClock.sleep(50);
        hasArrived = true;
      };
      const onEnd = () => {
        arrivedBeforeEnd = hasArrived;
      };
      await client.delete({ id: "i-1" }).then(onEnd, onEnd);
      expect(arrivedBeforeEnd).toBe(true);
      expect(engine.logged).toMatchObject([{ severity: "warning", message: "still billed" }]);
    });
  },
);

test("a message that the engine does not accept delays answers by a second, and later ones not at all", async () => {
  await withEngine(async (engine, log, { clock }) => {
    engine.beforeLog = () => new Promise(() => undefined);
    log.warning("lost");
    const answers = [log.flush(), log.flush()];
    await clock.advance(1000);
    await Promise.all(answers);
    await log.flush();
    // Answers still wait for later messages.
    engine.beforeLog = () => Promise.resolve();
    log.warning("heard", instanceUrn);
    await log.flush();
    expect(engine.logged.map(({ message }) => message)).toEqual(["heard"]);
    expect(clock.sleeping).toBe(0);
  });
});

test("no operation fails because the engine is gone or was never attached", async () => {
  const engine = await TestEngine.start();
  engine.stop();
  for (const address of [engine.address, "", "no address"]) {
    const log = new EngineLog(new Redactor(), systemClock);
    log.attach(address);
    log.warning("careful");
    await log.flush();
    log.close();
  }
});

test.each(["handshake", "attach"] as const)(
  "the messages of a run that begins after %s go to its engine",
  async (method) => {
    const script = (messages: { info(text: string): void }) => ({
      create: async () => {
        messages.info("hello");
        return { id: "i-1", outputs: inputs, refreshBeforeUpdate: false };
      },
    });
    await withServer(script, async ({ client, engine }) => {
      const second = await TestEngine.start();
      try {
        await client.create({ inputs });
        await client[method](second.address);
        await client.configure(inputs);
        await client.create({ inputs });
        expect(engine.logged).toHaveLength(1);
        expect(second.logged).toHaveLength(1);
      } finally {
        second.stop();
      }
    });
  },
);

test("what is said after the next engine has attached does not join what still waits for the last one", async () => {
  await withEngine(async (last, log) => {
    const next = await TestEngine.start();
    last.beforeLog = () => new Promise(() => undefined);
    try {
      for (const text of ["a", "b"]) log.debug(text);
      for (const text of ["1 s", "2 s"]) log.status(instanceUrn, text);
      log.attach(next.address);
      for (const text of ["c", "d"]) log.debug(text);
      log.status(instanceUrn, "3 s");
      await log.flush();
      const told = next.logged.flatMap(({ message }) => message.split("\n"));
      expect(told.sort()).toEqual(["3 s", "c", "d"]);
    } finally {
      next.stop();
    }
  });
});

test("messages that were sent are not kept in memory", async () => {
  await withEngine(async (engine, log) => {
    const heapAfter = async (messages: number) => {
      for (let sent = 0; sent < messages; sent += 50) {
        for (let n = 0; n < 50; n++) log.status(`${instanceUrn}${n}`, "PROVISIONING");
        await log.flush();
        engine.logged.splice(0);
      }
      return heapAfterCollection();
    };
    const before = await heapAfter(1000);
    expect((await heapAfter(3000)) - before).toBeLessThan(300_000);
  });
});
