/** Tests explicit providers, and configuration that is unknown at preview (G10: a preview is a preview). */
import { expect, test } from "@jest/globals";
import { startEmulator } from "../../../emulator";
import { Fixture } from "../support/fixture";
import { emptyProgram, instances, required, type Inputs } from "../support/programs";
import { recordsOf } from "../support/stack";

const provider = (properties: Inputs) => ({ type: "pulumi:providers:compute", properties });
const instanceOf = (name: string) => ({
  type: "compute:Instance",
  properties: required,
  options: { provider: `\${${name}}` },
});

test("with configuration that comes from another resource, a preview works without its value, up uses it, and leaves nothing in doubt", async () => {
  await using other = await startEmulator({ provisioningSeconds: 0 });
  await using fixture = await Fixture.create({ program: emptyProgram });
  const { stack, service } = fixture;
  const resources = {
    // The address is unknown until the status of `first` is known.
    chosen: provider({ baseUrl: { "fn::select": [0, [other.url, "${first.status}"]] } }),
    second: instanceOf("chosen"),
  };
  stack.program(instances({ first: {} }, { resources, outputs: { ipv4: "${second.ipv4}" } }));

  expect(await stack.preview()).toContain("4 to create");
  expect(service.control.counts()).toEqual({ "GET /v2/account": 1, "GET /v2/instances": 1 });
  expect(other.control.counts()).toEqual({});

  await stack.up();
  expect(fixture.ids()).toHaveLength(1);
  expect(other.control.instances()).toHaveLength(1);
  // Each provider has a process of its own.
  expect(recordsOf(stack)).toEqual([]);
  await stack.expectNothingToDo();
});

test("a change of the provider's configuration replaces no instance", async () => {
  await using fixture = await Fixture.create({ program: emptyProgram });
  const { stack, service } = fixture;
  const program = (more: Inputs) => {
    const own = provider({ baseUrl: service.url, ...more });
    return instances({}, { resources: { own, web: instanceOf("own") } });
  };
  stack.program(program({}));
  await stack.up();

  stack.program(program({ baseUrl: `${service.url}/`, requestTimeoutSeconds: 5 }));
  const output = await stack.up();

  expect(output).toContain("1 updated");
  expect(output).not.toMatch(/replaced|created/);
  expect(fixture.posts()).toBe(1);
});

test.each(["--inspect-brk=0", "--require=/not/there.cjs"])(
  "NODE_OPTIONS=%s, which is meant for the program, does not reach the plugin of `npm run build`",
  async (options) => {
    await using fixture = await Fixture.create({ env: { NODE_OPTIONS: options } });
    expect(await fixture.stack.preview()).toContain("2 to create");
  },
);
