/** Sequences of commands that once ended with a second server in the real engine (G2). */
import { expect, test } from "@jest/globals";
import { Fixture, hangs } from "./support/fixture";
import { instances } from "./support/programs";
import { tokens } from "./support/stack";
import { expectAgreement, urnOf } from "./support/typing";

test("after `pulumi cancel`, a second run saves its state over the first one's: neither it nor the third run creates a second server", async () => {
  // The second run waits for the first one for longer than the settling time.
  const config = { settlingSeconds: "60" };
  await using fixture = await Fixture.create({ token: tokens.live, config });
  const { stack, control } = fixture;
  const hanging = control.fault(hangs);
  const first = stack.start("up");
  await first.reached(hanging.firstHit);
  await stack.succeed("cancel", "--yes");
  const second = stack.start("up");
  await second.printed("another run creates it");
  // The second engine goes on, and saves, only after the first one has ended. Its plugin is not stopped.
  second.child.kill("SIGSTOP");
  hanging.release();
  // It fails to remove its lock, which `pulumi cancel` has removed.
  await first.ended;
  const [id = ""] = fixture.ids();
  expect(await stack.ids()).toEqual([id]);
  second.child.kill("SIGCONT");

  expect(await second.failed()).toMatch(
    /nothing was created: another run \(process \d+\) creates /,
  );
  expect(await stack.ids()).toEqual([]);
  expect(await stack.fail("up")).toContain(`(${id}):`);

  control.remove(id);
  await stack.up();
  expect(fixture.posts()).toBe(2);
  expect(await stack.ids()).toEqual(fixture.ids());
});

test("after `state move`, two stacks have one provider resource: neither takes over what the other's run has created, and `up` of that one goes on", async () => {
  await using fixture = await Fixture.create({
    token: tokens.live,
    program: instances({ db: {} }),
    service: { provisioningSeconds: (name) => (name.startsWith("web") ? Infinity : 0) },
  });
  const { stack, control, service } = fixture;
  const select = async (name: string, ...resources: string[]) => {
    await stack.succeed("stack", "select", name);
    stack.program(instances(Object.fromEntries(resources.map((resource) => [resource, {}]))));
  };
  await stack.up();
  await stack.succeed("stack", "init", "staging");
  await stack.configure({ baseUrl: service.url });
  const [source, dest] = ["organization/proj/dev", "organization/proj/staging"];
  await stack.succeed("state", "move", urnOf("db"), "--yes", "--source", source, "--dest", dest);
  await select("staging", "db", "web");
  const killed = stack.start("up");
  await killed.printed("PROVISIONING");
  await killed.end("both killed");
  control.finishProvisioning();
  await stack.succeed("cancel", "--yes");

  // Both stacks generate names with the same tag, so the instance looks like a leftover until the setting says otherwise.
  const isLeftover = "one with its generated name is listed";
  await select("dev", "web");
  expect(await stack.fail("up")).toContain(isLeftover);
  expect(fixture.posts()).toBe(2);

  await select("staging", "db", "web");
  await expectAgreement(fixture, fixture.ids());
  const ofStaging = fixture.ids();
  await select("dev", "web");
  expect(await stack.fail("up")).toContain(isLeftover);
  await stack.configure({ leftovers: "warn" });
  const again = stack.start("up");
  await again.printed("PROVISIONING");
  control.finishProvisioning();
  await again.succeeded();
  await expectAgreement(
    fixture,
    fixture.ids().filter((id) => !ofStaging.includes(id)),
  );
  expect(fixture.posts()).toBe(3);
});
