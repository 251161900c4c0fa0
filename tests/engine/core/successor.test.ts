/** Tests that no server is ended before the one that replaces it is ready (G4). */
import { expect, test } from "@jest/globals";
import { creates, destroyPath, Fixture, never } from "../support/fixture";
import { oneInstance } from "../support/programs";
import { tokens } from "../support/stack";
import { printed } from "../support/typing";

const destroying = { config: { destroyPath }, service: { destroyPath } };
const refusalOf = (old: string, next: string) =>
  `instance ${old} was not deleted: its replacement ${next} is not ready`;

test("with a destroy call, `up --continue-on-error` lets the old server run as long as the new one has failed, and ends it once that is ready", async () => {
  await using fixture = await Fixture.create({ token: tokens.live, ...destroying });
  const { stack, control } = fixture;
  await stack.up();
  const [old = ""] = fixture.ids();
  stack.program(oneInstance({ flavorId: "premium-8" }));
  control.fault({ kind: "endsAs", status: "ERROR" });
  const first = await stack.fail("up", "--continue-on-error");
  const [, next = ""] = fixture.ids();
  const second = await stack.fail("up", "--continue-on-error");

  for (const output of [first, second]) expect(output).toContain(refusalOf(old, next));
  expect(await stack.ids()).toEqual([old, next].sort());

  // A person removes the new one, so that it is created again.
  control.remove(next);
  control.fault({ ...creates, kind: "status", status: 422 });
  const third = await stack.fail("up", "--continue-on-error");
  expect(third).toContain(`instance ${old} was not deleted: its replacement was not created`);
  expect(fixture.ids()).toEqual([old]);
  control.fault({ kind: "endsAs", status: "ERROR" });
  await stack.fail("up", "--continue-on-error");
  const [, last = ""] = fixture.ids();
  expect(await stack.ids()).toEqual([old, last].sort());

  control.setStatus(last, "ACTIVE");
  await stack.up();
  expect(fixture.ids()).toEqual([last]);
  await stack.expectNothingToDo();
});

test("with retain, neither the old server leaves the state before the new one is ready, nor does a destroy of both fail", async () => {
  await using fixture = await Fixture.create({
    token: tokens.live,
    config: { deletePolicy: "retain" },
    service: never,
  });
  const { stack, control } = fixture;
  const up = await fixture.upInWait();
  control.finishProvisioning();
  await up.succeeded();
  const [old = ""] = fixture.ids();
  const customTimeouts = { create: "1s", update: "1s" };
  stack.program(oneInstance({ flavorId: "premium-8" }, { customTimeouts }));

  const first = await stack.fail("up", "--continue-on-error");
  const [, next = ""] = fixture.ids();
  const second = await stack.fail("up", "--continue-on-error");

  for (const output of [first, second]) expect(output).toContain(refusalOf(old, next));
  expect(await stack.ids()).toEqual([old, next].sort());
  await stack.destroy("--refresh", "--run-program");
  expect(await stack.instances()).toEqual([]);
});

test("a server that the program deletes before its replacement is deleted, and one that a person removes leaves the state, although no new one is ready", async () => {
  const named = (flavorId: string, options = {}) => oneInstance({ name: "web", flavorId }, options);
  await using fixture = await Fixture.create({
    token: tokens.live,
    program: named("standard-2"),
    ...destroying,
  });
  const { stack, control } = fixture;
  await stack.up();
  // The service has unique names. The page that the error names has the option with which the program then goes on.
  stack.program(named("premium-8"));
  const [old = ""] = fixture.ids();
  control.fault({ ...creates, kind: "status", status: 422 });
  expect(await stack.fail("up")).toContain(
    `nothing was created (instance ${old} has this name already) (422):\n`,
  );
  stack.program(named("premium-8", { deleteBeforeReplace: true }));
  control.fault({ kind: "endsAs", status: "ERROR", times: 2 });
  await stack.fail("up", "--continue-on-error");
  const [first = ""] = fixture.ids();
  expect(await stack.ids()).toEqual([first]);

  stack.program(named("premium-16"));
  const refused = await stack.fail("up", "--continue-on-error");
  const [, second = ""] = fixture.ids();
  expect(refused).toContain(refusalOf(first, second));
  control.remove(first);
  await stack.fail("up", "--continue-on-error");
  expect(await stack.ids()).toEqual([second]);
  await stack.destroy("--refresh");
  expect(fixture.ids()).toEqual([]);
});

test("an ACTIVE server is not ended for one that is OFFLINE, until that runs, and the printed command sees it", async () => {
  await using fixture = await Fixture.create({ token: tokens.live, ...destroying });
  const { stack, control } = fixture;
  await stack.up();
  const [old = ""] = fixture.ids();
  stack.program(oneInstance({ flavorId: "premium-8" }));
  control.fault({ kind: "endsAs", status: "OFFLINE" });

  const refused = await stack.fail("up");

  const [, next = ""] = fixture.ids();
  expect(refused).toContain(refusalOf(old, next));
  control.setStatus(next, "ACTIVE");
  await stack.type(printed(refused, "pulumi up --refresh"));
  expect(fixture.ids()).toEqual([next]);
  await stack.expectNothingToDo();
});
