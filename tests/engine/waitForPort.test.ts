/** Tests `waitForPort` with a real listener: no instance is lost or doubled, and only the wait of an `up` connects. */
import { expect, test } from "@jest/globals";
import { Fixture } from "./support/fixture";
import { address, addresses, closedPort, listen } from "./support/ports";
import { instances, oneInstance } from "./support/programs";

test("a port that does not answer in time keeps the instance, the next up goes on until the port answers, and later changes connect to nothing (G1)", async () => {
  const port = await closedPort();
  const program = (waitForPort: number | undefined, update = "2m") =>
    oneInstance({ waitForPort }, { customTimeouts: { create: "4s", update } });
  await using fixture = await Fixture.create({
    program: program(port),
    service: { addresses },
  });
  const { stack } = fixture;
  expect(await stack.preview()).not.toContain(`${port}`);

  const first = await stack.fail("up");

  const [id] = fixture.ids();
  expect(first).toContain(`port ${port}: connection refused, `);
  expect(first).toContain(
    `port ${port} of instance ${id} at ${address} did not answer before the operation's 4 s (customTimeouts.create) were over: connection refused.`,
  );
  expect(await stack.instance()).toMatchObject({ id, outputs: { status: "ACTIVE" } });
  await stack.refresh();
  expect((await stack.instance()).initErrors?.join()).toContain(
    `instance ${id} was not ready when this run began: its port ${port} had not answered`,
  );

  const second = stack.start("up");
  await second.printed(`port ${port}: connection refused`);
  const { server, count } = await listen(port);
  try {
    await second.succeeded();
    expect(count()).toBe(1);
    expect((await stack.instance()).initErrors ?? []).toEqual([]);
    await stack.expectNothingToDo();

    const before = fixture.control.counts();
    for (const waitForPort of [await closedPort(), undefined, port]) {
      stack.program(program(waitForPort));
      expect(await stack.up()).toMatch(/~ 1 updated/);
      expect((await stack.instance()).outputs?.["waitForPort"] ?? undefined).toBe(waitForPort);
    }
    expect(fixture.control.counts()).toEqual(before);
    await stack.refresh();
    await stack.expectNothingToDo();
    expect(count()).toBe(1);
    expect(fixture.posts()).toBe(1);
    expect(fixture.ids()).toEqual([id]);
  } finally {
    server.close();
  }
});

test("a port that can't answer is left out of the program, or its OFFLINE instance is started at the service, and the next up finishes each (G1)", async () => {
  const { server, port } = await listen();
  const closed = await closedPort();
  const customTimeouts = { create: "3s", update: "30s" };
  const named = (silent?: number, released?: number) =>
    instances({
      silent: { inputs: { name: "silent", waitForPort: silent }, options: { customTimeouts } },
      released: { inputs: { name: "released", waitForPort: released } },
      started: { inputs: { name: "started", waitForPort: port } },
    });
  await using fixture = await Fixture.create({
    program: named(closed, port),
    // Each instance has the same address.
    service: {
      addresses: `${address}/32`,
      endStatus: (name) => (name === "silent" ? "ACTIVE" : "OFFLINE"),
    },
  });
  try {
    const { stack, control } = fixture;
    const output = await stack.fail("up");
    expect(output).toContain("waiting.md#until-a-port-answers");
    expect(output).toContain(
      `is OFFLINE, so its port ${port} can't answer. Start it at the service`,
    );

    const started = control.instances().find(({ name }) => name === "started");
    control.setStatus(started?.id ?? "", "ACTIVE");
    stack.program(named());
    await stack.up();

    const held = await stack.instances();
    expect(held.map(({ outputs }) => [outputs?.["name"], outputs?.["status"]]).sort()).toEqual([
      ["released", "OFFLINE"],
      ["silent", "ACTIVE"],
      ["started", "ACTIVE"],
    ]);
    expect(held.flatMap(({ initErrors }) => initErrors ?? [])).toEqual([]);
    expect(fixture.posts()).toBe(3);
    await stack.expectNothingToDo();
  } finally {
    server.close();
  }
});
