/**
 * Tests what `--continue-on-error` skips. From engine 3.274 on, a skipped step asks for a dry run in the middle of a real update, and
 * its error reaches nobody.
 */
import { expect, test } from "@jest/globals";
import { creates, destroyPath, Fixture } from "./support/fixture";
import { instances } from "./support/programs";
import { tokens } from "./support/stack";

test("a create in doubt that is skipped is named at the end", async () => {
  const web = { inputs: { name: "web-main" } };
  await using fixture = await Fixture.create({
    token: tokens.live,
    program: instances({ web }),
  });
  const { stack, control } = fixture;
  await fixture.endUpInPost("both killed");
  await stack.succeed("cancel", "--yes");
  const first = { inputs: { name: "first" } };
  stack.program(instances({ first, web: { ...web, options: { dependsOn: ["${first}"] } } }));
  control.fault({ ...creates, kind: "status", status: 422, acted: false });

  const output = await stack.fail("up", "--continue-on-error");

  expect(output).toContain("settle");
  expect(output).toContain("web-main");
  expect(fixture.ids()).toHaveLength(1);
});

// The old server's Delete may come to another process than the update of the new one.
test.each([
  ["its provider", {}],
  ["another provider", { provider: "${own}" }],
])(
  "a server is not ended while the update of what replaces it, of %s, is skipped",
  async (_, options) => {
    await using fixture = await Fixture.create({
      token: tokens.live,
      config: { destroyPath },
      service: { destroyPath },
    });
    const { stack, control, service } = fixture;
    const settings = { pollIntervalSeconds: 0.2, settlingSeconds: 1, destroyPath };
    const own = {
      type: "pulumi:providers:compute",
      properties: { baseUrl: service.url, ...settings },
    };
    const program = (named: Parameters<typeof instances>[0]) =>
      stack.program(instances(named, { resources: { own } }));
    await stack.up();
    const [old = ""] = fixture.ids();
    const web = { inputs: { flavorId: "premium-8" }, options };
    program({ web });
    control.fault({ kind: "endsAs", status: "ERROR" });
    await stack.fail("up");
    const [, next = ""] = fixture.ids();
    control.setStatus(next, "PROVISIONING");
    program({ first: {}, web: { ...web, options: { ...options, dependsOn: ["${first}"] } } });
    control.fault({ ...creates, kind: "status", status: 422, acted: false });

    const output = await stack.fail("up", "--continue-on-error");

    expect(output).toContain(
      `instance ${old} was not deleted: its replacement ${next} is not ready`,
    );
    expect(fixture.ids()).toEqual([old, next]);
  },
);
