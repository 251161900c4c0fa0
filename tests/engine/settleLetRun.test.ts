/** Tests what `settle` says of servers that run on purpose. */
import { expect, test } from "@jest/globals";
import { destroyPath, Fixture } from "./support/fixture";
import { instances } from "./support/programs";
import { live, settle } from "./support/settling";
import { expectAgreement, printed } from "./support/typing";

test("the command that settle names for an interrupted replacement lets the old server run, although its explicit provider has a destroy call", async () => {
  await using fixture = await Fixture.create({ ...live, service: { destroyPath } });
  const { stack, service } = fixture;
  const own = {
    baseUrl: service.url,
    requestTimeoutSeconds: 1,
    settlingSeconds: 1,
    pollIntervalSeconds: 0.2,
    destroyPath,
  };
  const program = (flavorId: string) =>
    instances(
      { web: { inputs: { flavorId }, options: { provider: "${own}" } } },
      { resources: { own: { type: "pulumi:providers:compute", properties: own } } },
    );
  stack.program(program("standard-2"));
  await stack.up();
  stack.program(program("standard-4"));
  await fixture.endUpInPost("both killed");
  await stack.succeed("cancel", "--yes");
  const [old = "", made = ""] = fixture.ids();

  const { output } = await settle(stack, "--yes");
  expect(output).toContain(`drops ${old} from the state, which goes on running`);
  await stack.type(printed(output, "COMPUTE_"));

  await expectAgreement(fixture, [made]);
  expect(fixture.ids()).toEqual([old, made]);
});
