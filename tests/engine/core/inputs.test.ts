/** Tests that all wrong inputs of a resource are reported at once (G9: errors help), and the modes of autonaming. */
import { expect, test } from "@jest/globals";
import { Fixture } from "../support/fixture";
import { instances } from "../support/programs";
import { canaries } from "../support/secrets";

test("missing, misspelt, mistyped and empty inputs are reported at once, without a secret value, even if the language checks nothing", async () => {
  await using fixture = await Fixture.create();
  fixture.stack.javascript(`
    const { CustomResource } = require("@pulumi/pulumi");
    new CustomResource("compute:index:Instance", "web", {
      name: "",
      flavourId: "standard-2",
      imageId: 5,
      sshKeys: ["a", ""],
      userData: [${JSON.stringify(canaries.userData)}],
      userDataBase64: ${JSON.stringify(`~${canaries.userData}~`)},
    });
  `);

  const output = await fixture.stack.fail("preview");

  expect(output).toContain('no input "flavourId"; did you mean flavorId?');
  for (const missing of ["flavorId", "vpcId"])
    expect(output).toMatch(new RegExp(`${missing}.* is required`));
  for (const wrong of ["name", "imageId", "sshKeys", "userData", "userDataBase64"])
    expect(output).toMatch(new RegExp(`\\b${wrong}\\b`));
  expect(output).toContain("must not be empty");
  expect(output).toContain("must be Base64");
  expect(fixture.posts()).toBe(0);
});

test("pulumi:autonaming works with verbatim, with a pattern and with disabled", async () => {
  await using fixture = await Fixture.create();
  const { stack } = fixture;
  const mode = async (path: string, value: string) => {
    await stack.succeed("config", "rm", "pulumi:autonaming");
    await stack.succeed("config", "set", "--path", `pulumi:autonaming.${path}`, value);
  };
  const names = () => fixture.control.instances().map(({ name }) => name);

  await mode("mode", "verbatim");
  stack.program(instances({ first: {} }));
  await stack.up();
  expect(names()).toEqual(["first"]);

  await mode("pattern", "pre-${name}-${hex(4)}");
  stack.program(instances({ first: {}, second: {} }));
  await stack.up();
  expect(names()).toEqual(["first", expect.stringMatching(/^pre-second-[0-9a-f]{4}$/)]);

  await mode("mode", "disabled");
  stack.program(instances({ third: {} }));
  expect(await stack.fail("preview")).toMatch(
    /name.*is required, because pulumi:autonaming is disabled/s,
  );
  stack.program(instances({ third: { inputs: { name: "own" } } }));
  await stack.preview();
});
