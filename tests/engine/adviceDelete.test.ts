/**
 * Follows what the messages advise after a refused delete or replacement (G4), and after another configuration (G3), to its
 * end: the state and the service agree, and no instance is doubled or lost.
 */
import { expect, test } from "@jest/globals";
import { startEmulator } from "../../emulator";
import { destroyPath, destroys, Fixture, lists, type FixtureOptions } from "./support/fixture";
import { instances, oneInstance } from "./support/programs";
import { canaries } from "./support/secrets";
import { tokens } from "./support/stack";
import { expectAgreement, printed, typePrinted, typeToken, urnOf } from "./support/typing";

/** An `up` with a live token. The service has a destroy call, which the configuration need not name. */
async function madeLive(options: FixtureOptions = {}): Promise<{ fixture: Fixture; id: string }> {
  const fixture = await Fixture.create({
    token: tokens.live,
    service: { destroyPath },
    ...options,
  });
  await fixture.stack.up();
  const [id = ""] = fixture.ids();
  return { fixture, id };
}

/** Expects that a destroy succeeds, and that neither the state nor the service has an instance. */
async function expectDestroyed(fixture: Fixture): Promise<void> {
  await fixture.stack.destroy();
  expect(await fixture.stack.instances()).toEqual([]);
  expect(fixture.ids()).toEqual([]);
}

test("if a DELETE was sent and no listing proves that the instance is gone, the printed state delete works", async () => {
  const { fixture } = await madeLive({ config: { destroyPath } });
  await using _ = fixture;
  const cut = fixture.control.fault({ ...lists, kind: "hasMoreForever", times: "always" });
  const refused = await fixture.stack.fail("destroy");
  expect(refused).toContain("is not proven gone after its DELETE");
  cut.remove();

  await typePrinted(fixture, refused, "pulumi state delete");

  await expectDestroyed(fixture);
});

/** How an instance is gone without a listing that proves it. */
const unproven: { what: string; make: (fixture: Fixture, id: string) => void }[] = [
  {
    what: "the service lists what it has deleted",
    make: ({ control }, id) => control.setStatus(id, "DELETED"),
  },
  {
    what: "a listing is not complete",
    make({ control }, id) {
      control.remove(id);
      control.fault({ ...lists, kind: "hasMoreForever", times: "always" });
    },
  },
];

test.each(unproven)(
  "if $what, a refused destroy works with the variable that it names",
  async ({ make }) => {
    const { fixture, id } = await madeLive({ config: { deletePolicy: "fail" } });
    await using _ = fixture;
    make(fixture, id);
    const refused = await fixture.stack.fail("destroy");
    expect(refused).toContain("put COMPUTE_DELETE_POLICY=retain before the same command");

    await fixture.stack.type("COMPUTE_DELETE_POLICY=retain pulumi destroy");

    expect(await fixture.stack.instances()).toEqual([]);
  },
);

test.each(unproven)("if $what, a refused replacement prints the up", async ({ make }) => {
  const { fixture, id } = await madeLive({ config: { deletePolicy: "fail" } });
  await using _ = fixture;
  const { stack } = fixture;
  make(fixture, id);
  stack.program(oneInstance({ flavorId: "premium-8" }));
  const refused = await stack.fail("up");
  expect(refused).toContain("create the new ones beside the old ones: ");

  await typePrinted(fixture, refused, "pulumi up");

  expect(fixture.posts()).toBe(2);
  expect(await stack.ids()).toEqual(fixture.ids().filter((other) => other !== id));
});

test("after a DELETE that ended with Ctrl-C, the destroy that is run again removes the instance from the state", async () => {
  const { fixture } = await madeLive({ config: { destroyPath } });
  await using _ = fixture;
  const { stack, control } = fixture;
  const hanging = control.fault({ ...destroys, kind: "hang", acted: true });
  const destroy = stack.start("destroy");
  await destroy.reached(hanging.firstHit);
  await destroy.end("Ctrl-C", () => hanging.release());
  expect(await destroy.failed()).toContain("The instance stays in the state. Run again");
  expect(await stack.ids()).toHaveLength(1);

  await expectDestroyed(fixture);
});

test.each(["removed at the service", "pulumi up"])(
  "after a refused replacement of several servers, of which one is named, it works for all with: %s, also if the configuration has the policy",
  async (way) => {
    const program = (flavorId: string) =>
      instances({ a: { inputs: { flavorId } }, b: { inputs: { flavorId } } });
    const { fixture } = await madeLive({
      program: program("standard-2"),
      config: { deletePolicy: "fail" },
    });
    await using _ = fixture;
    const { stack, control } = fixture;
    const ids = fixture.ids();
    stack.program(program("premium-8"));
    const refused = await stack.fail("up");
    const named = ids.filter((id) => refused.includes(`instance ${id} can't be replaced`));
    expect(named).toHaveLength(1);

    if (way === "pulumi up") await typePrinted(fixture, refused, way);
    else {
      for (const id of ids) control.remove(id);
      await stack.up();
    }

    expect(fixture.posts()).toBe(4);
    expect(ids.every((id) => fixture.ids().includes(id) === (way === "pulumi up"))).toBe(true);
    await expectAgreement(
      fixture,
      fixture.ids().filter((other) => !ids.includes(other)),
    );
  },
);

test.each(["up", "destroy"] as const)(
  "with a new token, the refresh that a refused %s prints makes the removal at the service count",
  async (command) => {
    const { fixture, id } = await madeLive();
    await using _ = fixture;
    const { stack, control } = fixture;
    stack.setEnv("COMPUTE_API_TOKEN", `${tokens.live}2`);
    if (command === "up") stack.program(oneInstance({ flavorId: "premium-8" }));

    await typePrinted(fixture, await stack.fail(command), "pulumi refresh");
    expect(await stack.fail(command)).not.toContain("another token");
    control.remove(id);
    await stack[command]();

    expect(fixture.posts()).toBe(command === "up" ? 2 : 1);
    expect(await stack.ids()).toEqual(fixture.ids());
  },
);

test("with another address, up, refresh, destroy and a replacement refuse, and all of them work again with the configuration of the create", async () => {
  await using other = await startEmulator({ provisioningSeconds: 0 });
  await using fixture = await Fixture.create();
  const { stack, service } = fixture;
  await stack.up();
  const [id = ""] = fixture.ids();
  const command = `pulumi up -c compute:baseUrl=${service.url}`;
  const changed = oneInstance({ flavorId: "premium-8" });

  await stack.configure({ baseUrl: other.url });
  const warned = await stack.up();
  expect(await stack.fail("refresh", "--run-program")).toContain(command);
  expect(await stack.fail("destroy", "--run-program")).toContain(command);
  // That `up` has recorded the other address.
  const refused = await stack.fail("destroy");
  stack.program(changed);
  expect(await stack.fail("up")).toContain(command);
  expect(await stack.ids()).toEqual([id]);

  stack.program(oneInstance());
  await typePrinted(fixture, refused, "pulumi refresh --run-program -c");
  await expectAgreement(fixture, [id]);
  await stack.configure({ baseUrl: other.url });
  await typePrinted(fixture, warned, "pulumi up -c");
  await expectAgreement(fixture, [id]);
  stack.program(changed);
  await stack.up();
  const [, replacement = ""] = fixture.ids();
  await expectAgreement(fixture, [replacement]);
  await stack.destroy();
  expect(await stack.instances()).toEqual([]);
  expect(other.control.instances()).toEqual([]);
  expect(fixture.posts()).toBe(2);
});

test("with another address and another token kind, a refused replacement says both, and works again after both ways", async () => {
  await using other = await startEmulator({ provisioningSeconds: 0 });
  await using fixture = await Fixture.create({ token: tokens.test });
  const { stack, service } = fixture;
  await stack.up();
  const set = "pulumi config set --secret compute:apiToken";
  await typeToken(fixture, set, tokens.live);
  await stack.configure({ baseUrl: other.url });
  const changed = oneInstance({ flavorId: "premium-8" });
  stack.program(changed);
  const refused = await stack.fail("up");
  expect(refused).toContain(`it lives at ${service.url}, but compute:baseUrl is ${other.url}`);
  expect(refused).toContain("it was made with a test token, but the token given now is a live one");

  await typeToken(fixture, printed(refused, set), tokens.test);
  await typePrinted(fixture, refused, "pulumi up -c");

  expect(other.control.instances()).toEqual([]);
  await expectAgreement(fixture, await stack.ids());
});

test("with another address, the state delete of the page lets an instance and what depends on it run, and the next up creates both at that address", async () => {
  await using other = await startEmulator({ provisioningSeconds: 0 });
  const program = (flavorId: string) =>
    instances({ web: { inputs: { flavorId } }, user: { options: { dependsOn: ["${web}"] } } });
  await using fixture = await Fixture.create({ program: program("standard-2") });
  const { stack } = fixture;
  await stack.up();
  const first = fixture.ids();
  await stack.configure({ baseUrl: other.url });
  stack.program(program("premium-8"));
  expect(await stack.fail("up")).toContain("instance.md#out-of-reach");

  const command = `pulumi state delete '${urnOf("web")}' --force --yes`;
  // Pulumi itself names the option.
  expect(await stack.typeFailing(`${command} 2>&1`)).toContain("--target-dependents");
  await stack.type(`${command} --target-dependents`);
  await stack.up();

  await expectAgreement(
    fixture,
    other.control.instances().map(({ id }) => id),
  );
  expect(other.control.instances()).toHaveLength(2);
  expect(fixture.ids()).toEqual(first);
});

test("with a token of another tenant, a destroy refuses, and works again with the tenant's token", async () => {
  const { fixture } = await madeLive({ config: { destroyPath } });
  await using _ = fixture;
  const { stack } = fixture;
  stack.setEnv("COMPUTE_API_TOKEN", `sk_live_other_${canaries.token}`);
  await stack.configure({ validateCredentials: "false" });
  expect(await stack.refresh("--run-program")).toContain("Use a token of the instance's tenant");
  expect(await stack.fail("destroy")).toContain("Use a token of the instance's tenant");
  expect(await stack.ids()).toEqual(fixture.ids());

  stack.setEnv("COMPUTE_API_TOKEN", tokens.live);

  await expectDestroyed(fixture);
});

test("after a new token and a removal at the service, the state delete of the page removes the instance, and up creates it anew", async () => {
  await using fixture = await Fixture.create();
  const { stack, control } = fixture;
  await stack.up();
  control.remove(fixture.ids()[0] ?? "");
  stack.setEnv("COMPUTE_API_TOKEN", `${tokens.test}-renewed`);
  expect(await stack.refresh("--run-program")).toContain("drop it from the state");
  expect(await stack.ids()).toHaveLength(1);

  await stack.type(`pulumi state delete '${urnOf("web")}' --force --yes`);
  await stack.up();

  expect(fixture.posts()).toBe(2);
  await expectAgreement(fixture);
});
