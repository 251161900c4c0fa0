/** Tests of the gRPC statuses for errors, over a real socket. */
import { expect, test } from "@jest/globals";
import { status } from "@grpc/grpc-js";
import { InstanceUnfinished, NotFound, OperationCanceled, OperationFailed } from "../errors";
import { Secret, Unknown, propertyMap } from "../pulumi/propertyValue";
import { instanceToken } from "../pulumi/names";
import { maxMessageLength } from "./engineLog";
import { errorOf } from "../testing/scene";
import { withServer } from "./testing/harness";

const inputs = propertyMap({ name: "web", userData: new Secret("#!/bin/sh") });
const outputs = propertyMap({ ...inputs, status: "PROVISIONING" });
const rejecting = (error: unknown) => () => Promise.reject(error);

test("an unfinished instance reaches the engine with id, state, reason and the refresh flag", async () => {
  const lines = ["still PROVISIONING", "run up"];
  const error = new InstanceUnfinished("i-1", { inputs, outputs }, lines);
  const script = { create: rejecting(error), update: rejecting(error), read: rejecting(error) };
  const expected = {
    code: status.UNKNOWN,
    message: "still PROVISIONING\nrun up",
    unfinished: {
      id: "i-1",
      inputs,
      outputs,
      reasons: [lines.join("\n")],
      refreshBeforeUpdate: true,
    },
  };
  await withServer(script, async ({ client }) => {
    await expect(client.create({ inputs })).rejects.toMatchObject(expected);
    await expect(client.update({ id: "i-1", news: inputs })).rejects.toMatchObject(expected);
    await expect(client.read({ id: "i-1" })).rejects.toMatchObject(expected);
  });
});

test("the id of an unfinished instance reaches the engine, although a value of its state is unknown", async () => {
  const badState = propertyMap({ name: "web", ipv4: Unknown.value });
  const error = new InstanceUnfinished("i-1", { inputs: badState, outputs: badState }, ["why"]);
  await withServer({ create: rejecting(error) }, async ({ client }) => {
    await expect(client.create({ inputs })).rejects.toMatchObject({
      unfinished: { id: "i-1", outputs: propertyMap({ name: "web" }), reasons: ["why"] },
    });
  });
});

test.each<[Error, status]>([
  [new OperationCanceled(), status.CANCELLED],
  [new NotFound("no such instance"), status.NOT_FOUND],
  [new OperationFailed(["the service said no", "100 % sure: ü"]), status.FAILED_PRECONDITION],
])("%s keeps its message and has its own code", async (error, code) => {
  const script = { invoke: rejecting(error), list: rejecting(error) };
  await withServer(script, async ({ client }) => {
    const expected = { code, message: error.message, unfinished: undefined };
    await expect(client.invoke("compute:index:getInstance", {})).rejects.toMatchObject(expected);
    await expect(client.list(instanceToken)).rejects.toMatchObject(expected);
  });
});

test("a line break inside a line of an error is removed, and the lines of the error stay", async () => {
  const invoke = rejecting(new OperationFailed(["instance i\n-1 is\u2028there:", "  - remove it"]));
  await withServer({ invoke }, async ({ client }) => {
    await expect(client.invoke("compute:index:getInstance", {})).rejects.toMatchObject({
      message: "instance i -1 is there:\n  - remove it",
    });
  });
});

const throwing = () => {
  throw new Error("sync");
};
test.each<[string, () => Promise<never>]>([
  ["x is undefined", rejecting(new TypeError("x is undefined"))],
  ["something other than an error was thrown", rejecting(null)],
  ["sync", throwing],
])(
  "an error that is a defect (%s) is reported as a defect, and its stack is only in the debug log",
  async (message, read) => {
    await withServer({ read }, async ({ client, server, engine }) => {
      await expect(client.read({ id: "i-1" })).rejects.toMatchObject({
        code: status.INTERNAL,
        message: `defect in the compute provider: ${message}`,
      });
      client.close();
      await server.drain();
      expect(engine.logged).toMatchObject([
        { severity: "debug", message: expect.stringContaining(message) },
      ]);
    });
  },
);

test("secrets are removed from errors, reasons and check failures (G8)", async () => {
  const dirty = "bad \u001b[31mtoken sk_live_12345678";
  const clean = "bad [31mtoken [secret]";
  const unfinished = new InstanceUnfinished("i-1", { inputs, outputs }, [dirty]);
  const script = {
    create: rejecting(unfinished),
    read: rejecting(new Error(dirty)),
    delete: rejecting(new OperationFailed(dirty)),
    configure: rejecting(new OperationFailed(dirty)),
    check: async () => ({ inputs, failures: [dirty] }),
  };
  await withServer(script, async ({ client, engine, redactor }) => {
    redactor.hide("sk_live_12345678");
    await expect(client.create({ inputs })).rejects.toMatchObject({
      message: clean,
      unfinished: { reasons: [clean] },
    });
    await expect(client.read({ id: "i-1" })).rejects.toMatchObject({
      message: `defect in the compute provider: ${clean}`,
    });
    await expect(client.delete({ id: "i-1" })).rejects.toMatchObject({ message: clean });
    await expect(client.configure({})).rejects.toMatchObject({ message: clean });
    expect((await client.check({ news: inputs })).failures).toEqual([clean]);
    expect(JSON.stringify(engine.logged)).not.toContain("sk_live");
  });
});

test("a very long message is cut, never through a character, and still arrives", async () => {
  const long = "\u{1f600}".repeat(maxMessageLength);
  const script = {
    read: rejecting(new OperationFailed(long)),
    create: rejecting(new InstanceUnfinished("i-1", { inputs, outputs }, [long])),
  };
  await withServer(script, async ({ client }) => {
    const error = await errorOf(client.read({ id: "i-1" }));
    expect(error.message.length).toBeLessThanOrEqual(maxMessageLength);
    expect(error.message).toMatch(/^\u{1f600}+…$/u);
    await expect(client.create({ inputs })).rejects.toMatchObject({ unfinished: { id: "i-1" } });
  });
});
