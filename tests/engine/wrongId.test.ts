/**
 * Tests of a service that answers a create with another instance's id: that instance is never in the state and never
 * destroyed, and the one really made is not lost (G1, G4). provider/create/knownId.test.ts has the other cases.
 */
import { expect, test } from "@jest/globals";
import { creates, destroyPath, Fixture } from "./support/fixture";
import { oneInstance } from "./support/programs";
import { settle } from "./support/settling";
import { tokens } from "./support/stack";
import { expectAgreement, printed } from "./support/typing";

const billing = { id: "i-billing", name: "billing", tokenKind: "live" } as const;

test("after a 202 with another team's instance, `up` says so, the next one stops without naming that one, and an import takes over the one really made under its explicit name", async () => {
  await using fixture = await Fixture.create({
    token: tokens.live,
    program: oneInstance({ name: "web-main" }),
    config: { destroyPath },
    service: { destroyPath },
  });
  const { stack, control } = fixture;
  control.insert(billing);
  control.fault({ ...creates, kind: "existingId", instance: billing.id, acted: true });

  const output = await stack.fail("up");

  expect(output).toContain(`the service answered with instance ${billing.id}`);
  expect(await stack.ids()).toEqual([]);
  const [made = ""] = fixture.ids().filter((id) => id !== billing.id);
  expect(output).toContain(made);
  const again = await stack.fail("up");
  expect(again).toContain(made);
  expect(again).not.toContain(billing.id);
  const { code, output: found } = await settle(stack, "--yes");
  expect(code).toBe(1);
  await stack.type(`${printed(found, "pulumi import")} --yes`);
  expect(fixture.posts()).toBe(1);
  await expectAgreement(fixture, [made]);
  await stack.destroy();
  expect(fixture.ids()).toEqual([billing.id]);
});
