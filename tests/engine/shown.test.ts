/**
 * What the service shows on the way: a state between PROVISIONING and ACTIVE, an address that stands for none, a listing of nothing,
 * and more instances than a page. None of it reaches what depends on an instance, and nothing is dropped or made twice.
 */
import { expect, test } from "@jest/globals";
import { Fixture, lists } from "./support/fixture";
import { instances } from "./support/programs";
import { ageCreates, tokens } from "./support/stack";

/** An instance whose user data names the address of the other. */
const target = instances({
  web: {},
  db: { inputs: { userData: "#!/bin/sh\n# http://${web.ipv4}:9100\n" } },
});

/** Expects that the dependent instance got the address that the service lists in the end. */
function expectTarget({ control }: Fixture): void {
  const made = (name: string) => control.instances().find((one) => one.name.startsWith(name));
  const [web, db] = [made("web-"), made("db-")];
  const script = Buffer.from(db?.request.user_data ?? "", "base64").toString();
  expect(script).toBe(`#!/bin/sh\n# http://${web?.ipv4_public}:9100\n`);
}

test.each([
  ["is OFFLINE for a moment", { kind: "showStatus", status: "OFFLINE" }],
  ["has a status of its own for a moment", { kind: "showStatus", status: "BOOTING" }],
  ["is listed with the address 0.0.0.0 for a moment", { kind: "omitAddress", instead: "0.0.0.0" }],
  ["is listed with the address :: for a moment", { kind: "omitAddress", instead: "::" }],
] as const)("what uses the address of an instance that %s gets it", async (_, fault) => {
  await using fixture = await Fixture.create({
    program: target,
    config: { settlingSeconds: "60" },
  });
  const { stack, control } = fixture;
  // The listing before the first POST is not among them.
  control.fault({ ...lists, ...fault, after: 1, times: 3 });
  expect(await stack.up()).not.toContain("warning");
  expectTarget(fixture);
  await stack.expectNothingToDo();
});

test("in a tenant with more instances than two pages, the usual cursor needs no setting", async () => {
  await using fixture = await Fixture.create({
    program: target,
    service: { cursorParameter: "starting_after" },
  });
  const { stack, control } = fixture;
  for (let n = 0; n < 213; n++) control.insert({ name: `other-${n}` });
  expect(await stack.up()).not.toContain("warning");
  expectTarget(fixture);
  await stack.refresh();
  expect((await stack.instances()).flatMap(({ initErrors }) => initErrors ?? [])).toEqual([]);
});

test("a service that lists nothing for a moment loses no billed instance, and none is made twice (G3)", async () => {
  const names = ["own-a", "own-b", "own-c", "own-d", "own-e"];
  const program = instances(Object.fromEntries(names.map((name) => [name, {}])));
  const config = { settlingSeconds: "30" };
  await using fixture = await Fixture.create({ program, token: tokens.live, config });
  const { stack, control } = fixture;
  await stack.up();
  ageCreates(stack);
  const ids = await stack.ids();
  control.insert({ name: "foreign", tokenKind: "live" });
  control.fault({ ...lists, kind: "omitItem", instance: "own-*", times: 4 });
  await stack.up("--refresh");
  expect(await stack.ids()).toEqual(ids);
  expect(fixture.posts()).toBe(names.length);
});
