/**
 * Tests of a service that answers a create with another instance's id: that instance is never in the state and never
 * destroyed, and the one really made is not lost (G1, G4). Each test types what the messages advise until the state and
 * the service agree.
 */
import { expect, test } from "@jest/globals";
import { printedCommands } from "../support/printed";
import { Fixture, type FixtureOptions } from "./support/fixture";
import { instances, oneInstance } from "./support/programs";
import { tokens } from "./support/stack";

const creates = { method: "POST", path: "/v2/instances" } as const;
const destroyPath = "/v2/instances/{id}";
const billing = { id: "i-billing", name: "billing", tokenKind: "live" } as const;
const wrong = { ...creates, kind: "existingId", instance: billing.id } as const;

/** A stack with a live token, which destroys what it holds. Another team's instance exists. */
async function withAnotherTeam(options: FixtureOptions): Promise<Fixture> {
  const fixture = await Fixture.create({
    token: tokens.live,
    service: { destroyPath },
    ...options,
    config: { destroyPath, ...options.config },
  });
  fixture.control.insert(billing);
  return fixture;
}

/** The ids of the instances that the stack's POSTs have made. */
const madeIds = (fixture: Fixture) => fixture.ids().filter((id) => id !== billing.id);

/**
 * Expects that `up` sends no POST, that a second one changes nothing, that the state has all instances but the other
 * team's, and that `destroy` leaves only that one.
 */
async function expectAgreement(fixture: Fixture): Promise<void> {
  const { stack } = fixture;
  const posts = fixture.posts();
  await stack.up();
  await stack.expectNothingToDo();
  expect(fixture.posts()).toBe(posts);
  expect(await stack.ids()).toEqual(madeIds(fixture).sort());
  await stack.destroy();
  expect(fixture.ids()).toEqual([billing.id]);
}

test("after a 202 with another team's instance, the one really made is adopted by its generated name", async () => {
  await using fixture = await withAnotherTeam({});
  fixture.control.fault({ ...wrong, acted: true });
  await fixture.stack.up();
  expect(fixture.posts()).toBe(1);
  expect(await fixture.stack.ids()).toEqual(madeIds(fixture));
  await expectAgreement(fixture);
});

test("after a 202 with another team's instance, `up` says so, and the printed import takes over the one really made under its explicit name", async () => {
  await using fixture = await withAnotherTeam({ program: oneInstance({ name: "web-main" }) });
  const { stack, control } = fixture;
  control.fault({ ...wrong, acted: true });

  const output = await stack.fail("up");

  expect(output).toContain(`the service answered with instance ${billing.id}`);
  expect(await stack.ids()).toEqual([]);
  const [command = "", ...others] = new Set(printedCommands(output, "pulumi import"));
  expect(others).toEqual([]);
  expect(command).toContain(madeIds(fixture)[0]);
  await stack.type(command);
  expect(fixture.posts()).toBe(1);
  await expectAgreement(fixture);
});

test("after a 202 with another team's instance, running again without the printed import stops, and both printed ways work", async () => {
  for (const way of ["pulumi import", "discard"]) {
    await using fixture = await withAnotherTeam({ program: oneInstance({ name: "web-main" }) });
    const { stack, control } = fixture;
    control.fault({ ...wrong, acted: true });
    await stack.fail("up");

    const again = await stack.fail("up");

    expect(again).not.toContain(billing.id);
    expect(fixture.posts()).toBe(1);
    // Before a person forgets the create, the instance is removed.
    if (way === "discard") control.remove(madeIds(fixture)[0] ?? "");
    const [command = ""] = printedCommands(again, way);
    await stack.type(command);
    if (way === "discard") await stack.up();
    expect(fixture.posts()).toBe(way === "discard" ? 2 : 1);
    await expectAgreement(fixture);
  }
});

test.each(["web-main", undefined])(
  "after a 202 with another team's instance and nothing made (name %s), the next `up` creates the instance once",
  async (name) => {
    await using fixture = await withAnotherTeam({ program: oneInstance(name ? { name } : {}) });
    const { stack, control } = fixture;
    control.fault(wrong);
    const output = await stack.fail("up");
    expect(output).toContain(`the service answered with instance ${billing.id}`);
    expect(output).toContain("the next `pulumi up` on this machine searches for it");
    expect(madeIds(fixture)).toEqual([]);
    await stack.up();
    expect(madeIds(fixture)).toHaveLength(1);
    expect(fixture.posts()).toBe(2);
    await expectAgreement(fixture);
  },
);

test.each(["explicit", "generated"])(
  "after a 202 with an instance of the same program (%s names), each resource gets its own instance",
  async (names) => {
    const inputsOf = (name: string) => (names === "explicit" ? { name } : {});
    const mail = { inputs: inputsOf("mail-main") };
    const web = { inputs: inputsOf("web-main"), options: { dependsOn: ["${mail}"] } };
    await using fixture = await withAnotherTeam({ program: instances({ mail, web }) });
    const { stack, control } = fixture;
    control.fault({ ...wrong, instance: "mail-*", name: "web-*", acted: true });

    const up = stack.start("up");

    if (names === "explicit") {
      const output = await up.failed();
      const mailId = control.instances().find(({ name }) => name === "mail-main")?.id ?? "";
      expect(output).toContain(`the service answered with instance ${mailId}`);
      const [command = ""] = printedCommands(output, "pulumi import");
      expect(command).not.toContain(mailId);
      await stack.type(command);
    } else await up.succeeded();
    for (const { urn, id } of await stack.instances()) {
      const resource = urn.split("::").at(-1) ?? "";
      expect(control.instances().find((instance) => instance.id === id)?.name).toContain(resource);
    }
    expect(fixture.posts()).toBe(2);
    await expectAgreement(fixture);
  },
);

test("after a 202 with the instance of another create that still waits for its answer, each resource gets its own instance", async () => {
  await using fixture = await withAnotherTeam({ program: instances({ mail: {}, web: {} }) });
  const { stack, control } = fixture;
  const held = control.fault({ ...creates, kind: "hang", acted: true, name: "mail-*" });
  const mixedUp = control.fault({ ...wrong, instance: "mail-*", name: "web-*", acted: true });
  // The web's POST waits until the service has made the mail's instance.
  const late = control.fault({ ...creates, kind: "hang", name: "web-*" });
  const up = stack.start("up");
  await up.reached(Promise.all([held.firstHit, late.firstHit]).then(() => undefined));
  late.release();
  await up.printed("Instance web created");
  held.release();
  await up.succeeded();
  expect(mixedUp.hits).toBe(1);
  for (const { urn, id } of await stack.instances()) {
    const resource = urn.split("::").at(-1) ?? "";
    expect(control.instances().find((instance) => instance.id === id)?.name).toContain(
      `${resource}-`,
    );
  }
  expect(fixture.posts()).toBe(2);
  await expectAgreement(fixture);
});
