/**
 * Tests of a service that answers a create with another instance's id: that instance is never in the state and never
 * destroyed, and the one really made is not lost (G1, G4).
 */
import { expect, test } from "@jest/globals";
import { Fixture, type FixtureOptions } from "./support/fixture";
import { instances, oneInstance } from "./support/programs";
import { settle } from "./support/settling";
import { tokens } from "./support/stack";
import { printed } from "./support/typing";

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

test("after a 202 with another team's instance, `up` says so, the next one stops without naming that one, and an import takes over the one really made under its explicit name", async () => {
  await using fixture = await withAnotherTeam({ program: oneInstance({ name: "web-main" }) });
  const { stack, control } = fixture;
  control.fault({ ...wrong, acted: true });

  const output = await stack.fail("up");

  expect(output).toContain(`the service answered with instance ${billing.id}`);
  expect(await stack.ids()).toEqual([]);
  const [made = ""] = madeIds(fixture);
  expect(output).toContain(`${made} has the name`);
  const again = await stack.fail("up");
  expect(again).toContain(`${made} has the name`);
  expect(again).not.toContain(billing.id);
  const { code, output: found } = await settle(stack, "--yes");
  expect(code).toBe(1);
  await stack.type(`${printed(found, "pulumi import")} --yes`);
  expect(fixture.posts()).toBe(1);
  await expectAgreement(fixture);
});

test.each(["web-main", undefined])(
  "after a 202 with another team's instance and nothing made (name %s), the next `up` creates the instance once",
  async (name) => {
    await using fixture = await withAnotherTeam({ program: oneInstance(name ? { name } : {}) });
    const { stack, control } = fixture;
    control.fault(wrong);
    const output = await stack.fail("up");
    expect(output).toContain(`the service answered with instance ${billing.id}`);
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
      const webId = control.instances().find(({ name }) => name === "web-main")?.id ?? "";
      expect(output).toContain(`${webId} has the name`);
      await stack.type(`pulumi import compute:index:Instance web ${webId}`);
    } else await up.succeeded();
    for (const { urn, id } of await stack.instances()) {
      const resource = urn.split("::").at(-1) ?? "";
      expect(control.instances().find((instance) => instance.id === id)?.name).toContain(resource);
    }
    expect(fixture.posts()).toBe(2);
    await expectAgreement(fixture);
  },
);
