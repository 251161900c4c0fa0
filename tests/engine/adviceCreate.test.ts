/**
 * Creates of earlier runs: what is run again as the message says makes nothing twice (G2), and what an earlier run has left is
 * named (G1).
 */
import { expect, test } from "@jest/globals";
import { Fixture, hangs } from "./support/fixture";
import { instances } from "./support/programs";
import { expectAgreement } from "./support/typing";

test("after `pulumi cancel`, a second run waits for the first one in vain. Run again as it says, and nothing is left to do", async () => {
  await using fixture = await Fixture.create();
  const { stack, control } = fixture;
  const hanging = control.fault(hangs);
  const first = stack.start("up");
  await first.reached(hanging.firstHit);
  await stack.succeed("cancel", "--yes");
  expect(await stack.fail("up")).toContain("Run again once that run has ended");
  hanging.release();
  await first.ended;

  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(1);
});

test.each(["up", "refresh", "destroy"])(
  "after a kill during the create of a resource that the program then lacks, the end of each %s names the create",
  async (command) => {
    await using fixture = await Fixture.create({
      program: instances({ web: {}, db: { options: { dependsOn: ["${web}"] } } }),
    });
    const { stack } = fixture;
    await fixture.endUpInPost("both killed", 1);
    await stack.succeed("cancel", "--yes");
    stack.program(instances({ web: {} }));
    const output = await stack.succeed(command, "--yes");
    expect(output).toMatch(/1 earlier create is in doubt.*: "db-\w{8}"/);
    expect(output).toContain(" settle`");
    expect(fixture.posts()).toBe(2);
  },
);
