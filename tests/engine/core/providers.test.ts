/** Explicit providers: several at once, and configuration that is not known at preview (G10). */
import { expect, test } from "@jest/globals";
import { startEmulator } from "../../../emulator";
import { instances, required, type Inputs } from "../support/programs";
import { Fixture } from "../support/fixture";

const provider = (properties: Inputs) => ({ type: "pulumi:providers:compute", properties });
const instance = (options: Inputs) => ({
  ...{ type: "compute:Instance", properties: required, options },
});

test("configuration that another resource gives: preview works without it, and up with it", async () => {
  await using other = await startEmulator({ provisioningSeconds: 0 });
  await using fixture = await Fixture.create({ program: "resources: {}\n" });
  const resources = {
    first: instance({}),
    // Which address is known once the status of `first` is.
    chosen: provider({ baseUrl: { "fn::select": [0, [other.url, "${first.status}"]] } }),
    second: instance({ provider: "${chosen}" }),
  };
  fixture.stack.program(instances({}, { resources, outputs: { ipv4: "${second.ipv4}" } }));

  const preview = await fixture.stack.preview();

  expect(preview.output).toContain("4 to create");
  expect(preview.code).toBe(0);
  expect({ ...fixture.service.counts(), ...other.counts() }).toEqual({});

  expect((await fixture.stack.up()).code).toBe(0);
  expect(fixture.ids()).toHaveLength(1);
  expect(other.control.instances()).toHaveLength(1);
  await fixture.stack.expectNothingToDo();
});

test("a change of the provider's configuration replaces no instance", async () => {
  await using fixture = await Fixture.create({ program: "resources: {}\n" });
  const { stack, service } = fixture;
  const program = (more: Inputs) => {
    const resources = {
      own: provider({ baseUrl: service.url, ...more }),
      web: instance({ provider: "${own}" }),
    };
    return instances({}, { resources });
  };
  stack.program(program({}));
  expect((await stack.up()).code).toBe(0);

  stack.program(program({ baseUrl: `${service.url}/`, requestTimeoutSeconds: 5 }));
  const { code, output } = await stack.up();

  expect(output).toContain("1 updated");
  expect(output).not.toMatch(/replaced|created/);
  expect(code).toBe(0);
  expect(fixture.posts()).toBe(1);
});
