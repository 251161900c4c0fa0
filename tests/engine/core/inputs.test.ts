/** Tests that all wrong inputs of a resource are reported at once (G9: errors help), and the modes of autonaming. */
import { expect, test } from "@jest/globals";
import { instances, oneInstance, userData } from "../support/programs";
import { canaries } from "../support/secrets";
import { Fixture } from "../support/fixture";

test("a preview reports all wrong inputs of a resource at once, and prints no secret value", async () => {
  await using fixture = await Fixture.create({
    program: oneInstance({
      name: "",
      imageId: "",
      sshKeys: ["a", ""],
      userData,
      userDataBase64: `~${canaries.userData}~`,
    }),
  });

  const { code, output } = await fixture.stack.preview();

  for (const input of ["name", "imageId", "sshKeys", "userDataBase64"])
    expect(output).toContain(input);
  expect(output).toContain("must not be empty");
  expect(output).toContain("userData and userDataBase64 are both given");
  expect(output).toContain("must be Base64");
  expect(code).not.toBe(0);
  expect(fixture.posts()).toBe(0);
});

test("missing, misspelt and mistyped inputs are reported even if the language does not check them", async () => {
  await using fixture = await Fixture.create({ program: instances({}) });
  fixture.stack.javascript(`
    const { CustomResource } = require("@pulumi/pulumi");
    new CustomResource("compute:index:Instance", "web", {
      flavourId: "standard-2",
      imageId: 5,
      sshKeys: "a",
      userData: [${JSON.stringify(canaries.userData)}],
    });
  `);

  const { code, output } = await fixture.stack.preview();

  expect(output).toContain('no input "flavourId"; did you mean flavorId?');
  for (const missing of ["flavorId", "vpcId"])
    expect(output).toMatch(new RegExp(`${missing}.* is required`));
  for (const mistyped of ["imageId", "sshKeys", "userData"]) expect(output).toContain(mistyped);
  expect(code).not.toBe(0);
});

test("pulumi:autonaming works with verbatim, with a pattern and with disabled", async () => {
  await using fixture = await Fixture.create({ program: instances({}) });
  const { stack } = fixture;
  const mode = (path: string, value: string) =>
    stack.succeed("config", "set", "--path", `pulumi:autonaming.${path}`, value);
  const names = () => fixture.service.control.instances().map(({ name }) => name);

  await mode("mode", "verbatim");
  stack.program(instances({ first: {} }));
  expect((await stack.up()).code).toBe(0);
  expect(names()).toEqual(["first"]);

  await stack.succeed("config", "rm", "pulumi:autonaming");
  await mode("pattern", "pre-${name}-${hex(4)}");
  stack.program(instances({ first: {}, second: {} }));
  expect((await stack.up()).code).toBe(0);
  // The first instance keeps its name.
  expect(names()).toEqual(["first", expect.stringMatching(/^pre-second-[0-9a-f]{4}$/)]);

  await stack.succeed("config", "rm", "pulumi:autonaming");
  await mode("mode", "disabled");
  stack.program(instances({ third: {} }));
  const refused = await stack.preview();
  expect(refused.output).toMatch(/name.*is required, because pulumi:autonaming is disabled/s);
  expect(refused.code).not.toBe(0);
  stack.program(instances({ third: { inputs: { name: "own" } } }));
  expect((await stack.preview()).code).toBe(0);
});
