/** Two accounts in one program: the second provider's token comes from a variable of its own (`envVarMappings`). */
import { expect } from "@jest/globals";
import { testUnless } from "../../../tools/support/unless";
import { instances, required } from "../support/programs";
import { canaries } from "../support/secrets";
import { isOldest } from "../support/stack";
import { Fixture } from "../support/fixture";

const second = `sk_test_second_${canaries.token}`;

testUnless(
  isOldest ? "the oldest engine ignores the option" : undefined,
  "each provider uses the token of its own variable, and so do refresh and destroy",
  async () => {
    await using fixture = await Fixture.create({ program: "resources: {}\n" });
    const { stack, service } = fixture;
    const resources = {
      second: {
        type: "pulumi:providers:compute",
        properties: { baseUrl: service.url },
        options: { envVarMappings: { SECOND_API_TOKEN: "COMPUTE_API_TOKEN" } },
      },
      ours: { type: "compute:Instance", properties: required },
      theirs: {
        type: "compute:Instance",
        properties: required,
        options: { provider: "${second}" },
      },
    };
    stack.program(instances({}, { resources }));
    stack.setEnv("SECOND_API_TOKEN", second);

    expect((await stack.up()).code).toBe(0);
    const owners = () => service.control.instances().map(({ tenant }) => tenant);
    expect(owners().sort()).toEqual(["default", "second"]);
    await stack.expectNothingToDo();
    const refreshed = await stack.refresh("--expect-no-changes");
    // The listing of another account would lack the instance.
    expect(refreshed.output).not.toMatch(/not in the listing/);
    expect(refreshed.code).toBe(0);

    const destroyed = await stack.destroy();
    expect(destroyed.output).toMatch(/dropped from the state, not destroyed/);
    expect(destroyed.code).toBe(0);
    expect(await stack.instances()).toEqual([]);
  },
);
