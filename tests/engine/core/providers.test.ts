/** Tests explicit providers, and configuration that is unknown at preview (G10: a preview is a preview). */
import { expect, test } from "@jest/globals";
import { startEmulator } from "../../../emulator";
import { instances, required, type Inputs } from "../support/programs";
import { Fixture } from "../support/fixture";

const provider = (properties: Inputs) => ({ type: "pulumi:providers:compute", properties });
const instance = (options: Inputs) => ({
  ...{ type: "compute:Instance", properties: required, options },
});

test("with configuration that comes from another resource, a preview works without its value, and up uses it", async () => {
  await using other = await startEmulator({ provisioningSeconds: 0 });
  await using fixture = await Fixture.create({ program: "resources: {}\n" });
  const resources = {
    first: instance({}),
    // The address is unknown until the status of `first` is known.
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
