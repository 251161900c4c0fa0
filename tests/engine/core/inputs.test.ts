/** Tests that all wrong inputs of a resource are reported at once (G9: errors help), and the modes of autonaming. */
import { expect, test } from "@jest/globals";
import { Fixture } from "../support/fixture";
import { emptyProgram, instances } from "../support/programs";
import { canaries } from "../support/secrets";

test("an Output that became text, an asset, and a resource in place of its id are refused at preview, and say what to give", async () => {
  await using fixture = await Fixture.create();
  fixture.stack.javascript(`
    const { asset, ComponentResource, CustomResource } = require("@pulumi/pulumi");
    const vpc = new ComponentResource("my:index:Vpc", "vpc");
    new CustomResource("compute:index:Instance", \`web-\${vpc.urn}\`, {
      flavorId: 4711,
      imageId: new asset.StringAsset("image-1"),
      vpcId: vpc,
      userData: \`#!/bin/sh\\necho \${vpc.urn}\\n\`,
      waitForPort: Number(process.env.NOT_SET),
    });
  `);

  const output = await fixture.stack.fail("preview");

  expect(output).toContain("imageId is an asset: give its text");
  expect(output).toContain("vpcId is a resource: give its id");
  expect(output).toContain(
    "userData has the text of an Output in it, and not its value: use an apply",
  );
  expect(output).toContain("the resource has the text of an Output in its own name");
  expect(output).toContain("waitForPort must be a whole number from 1 to 65535");
  expect(output).not.toContain("flavorId");
  expect(fixture.posts()).toBe(0);
});

test("an id of digits from the configuration of a program in YAML is taken as text, and so is that of getInstance", async () => {
  await using fixture = await Fixture.create();
  fixture.control.insert({ id: "4712", name: "numbered" });
  const { stack } = fixture;
  await stack.succeed("config", "set", "flavor", "4711");
  await stack.succeed("config", "set", "instance", "4712");
  // Pulumi makes a number of this, whatever stands around it.
  await stack.succeed("config", "set", "image", "22.10");
  const found = {
    "fn::invoke": { function: "compute:getInstance", arguments: { id: "${instance}" } },
  };
  const programWith = (imageId: string) =>
    instances(
      { web: { inputs: { flavorId: "${flavor}", imageId } } },
      {
        config: {
          flavor: { type: "integer" },
          instance: { type: "integer" },
          ids: { type: "array", items: { type: "string" } },
        },
        variables: { found },
        outputs: { flavor: "${web.flavorId}", image: "${web.imageId}", name: "${found.name}" },
      },
    );
  await stack.succeed("config", "set", "--path", "ids[0]", "22.10");
  stack.program(programWith("${image}"));
  expect(await stack.fail("preview")).toContain("pulumi config set --path 'ids[0]' 22.04");

  stack.program(programWith("${ids[0]}"));
  await stack.up();
  expect(await stack.outputs()).toEqual({ flavor: "4711", image: "22.10", name: "numbered" });
});

const password = canaries.password;
/** A secret in every input of an instance and in one that is no input, each of which is wrong. */
const misplaced = {
  name: `web ${password}\n`,
  flavorId: { password },
  imageId: [password],
  vpcId: { value: password },
  sshKeys: [{ password }, "", password],
  userData: [password],
  userDataBase64: `~${password}~`,
  waitForPort: password,
  rootPassword: password,
};
test.each([
  ["create", {}],
  ["import", { import: "i-by-hand" }],
])(
  "in the program of a new instance or of an import (%s), a secret that was pasted into the wrong input is not printed",
  async (_, options) => {
    await using fixture = await Fixture.create();
    fixture.control.insert({ id: "i-by-hand", name: "web-by-hand" });
    fixture.stack.javascript(`
    const { CustomResource } = require("@pulumi/pulumi");
    const options = ${JSON.stringify(options)};
    new CustomResource("compute:index:Instance", "web", ${JSON.stringify(misplaced)}, options);
  `);

    for (const command of ["preview", "up"]) {
      const output = await fixture.stack.fail(command);

      // The whole output has been searched for the password.
      for (const name of Object.keys(misplaced))
        expect(output).toMatch(new RegExp(`\\b${name}\\b`));
    }
    expect(fixture.posts()).toBe(0);
  },
);

test("an instance that the service lists with a name that no create may have is imported without a warning, and stays", async () => {
  await using fixture = await Fixture.create({ program: emptyProgram });
  const { stack, control } = fixture;
  control.insert({ id: "i-by-hand", name: "web\u202egnp" });
  const importing = ["import", "compute:index:Instance", "web", "i-by-hand", "--yes"];

  expect(await stack.succeed(...importing)).not.toMatch(/bug|failed to validate/);
  const { inputs } = await stack.instance();
  stack.program(instances({ web: { inputs: { name: inputs?.["name"] } } }));
  await stack.up();

  expect(await stack.ids()).toEqual(["i-by-hand"]);
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
