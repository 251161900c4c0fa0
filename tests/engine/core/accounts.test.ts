/** Two accounts in one program: the second provider's token comes from a variable of its own (`envVarMappings`). */
import { expect } from "@jest/globals";
import { testUnless } from "../../../tools/support/unless";
import { Fixture } from "../support/fixture";
import { emptyProgram, instances, required } from "../support/programs";
import { canaries } from "../support/secrets";
import { isOldest } from "../support/stack";

testUnless(
  isOldest ? "the oldest engine ignores the option" : undefined,
  "each provider uses the token of its own variable, and so do refresh and destroy",
  async () => {
    await using fixture = await Fixture.create({ program: emptyProgram });
    const { stack, control, service } = fixture;
    const resources = {
      second: {
        type: "pulumi:providers:compute",
        properties: { baseUrl: service.url },
        options: { envVarMappings: { SECOND_API_TOKEN: "COMPUTE_API_TOKEN" } },
      },
      theirs: {
        type: "compute:Instance",
        properties: required,
        options: { provider: "${second}" },
      },
    };
    stack.program(instances({ ours: {} }, { resources }));
    stack.setEnv("SECOND_API_TOKEN", `sk_test_second_${canaries.token}`);

    await stack.up();
    const owners = control.instances().map(({ tenant }) => tenant);
    expect(owners.sort()).toEqual(["default", "second"]);
    await stack.expectNothingToDo();
    // The listing of another account would lack the instance.
    expect(await stack.refresh("--expect-no-changes")).not.toMatch(/not in the listing/);

    expect(await stack.destroy()).toMatch(/1 instance is not destroyed/);
    expect(await stack.instances()).toEqual([]);
  },
);
