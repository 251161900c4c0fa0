/** Tests how `settle` writes a state: what the engine encrypts, and what a person without the passphrase is told. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { Fixture } from "./support/fixture";
import { passphrase } from "./support/engineLogs";
import { oneInstance } from "./support/programs";
import { live, onNewMachine, settle } from "./support/settling";
import { plugin } from "./support/stack";
import { expectAgreement, printed } from "./support/typing";

test("the state gets secret outputs encrypted, from stdin, once the passphrase is set as printed", async () => {
  const program = oneInstance({}, { additionalSecretOutputs: ["status", "networks"] });
  await using fixture = await Fixture.create({ ...live, program });
  const { stack } = fixture;
  await fixture.endUpInPost("both killed");
  await onNewMachine(stack);

  stack.setEnv("PULUMI_CONFIG_PASSPHRASE", undefined);
  const without = await settle(stack, "--yes");
  expect(without.code).toBe(3);
  const typed = `${printed(without.output, "PULUMI_CONFIG_PASSPHRASE")} && '${plugin}' settle --yes`;
  await stack.type(`echo '${passphrase}' | bash -c '${typed.replaceAll("'", `'"'"'`)}'`);

  stack.setEnv("PULUMI_CONFIG_PASSPHRASE", passphrase);
  const file = join(stack.folder, "state", ".pulumi", "stacks", "proj", "dev.json");
  const encrypted = expect.objectContaining({ ciphertext: expect.stringMatching(/^v1:/) });
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    checkpoint: {
      latest: {
        resources: expect.arrayContaining([
          expect.objectContaining({
            id: fixture.ids()[0],
            outputs: expect.objectContaining({ status: encrypted, networks: encrypted }),
          }),
        ]),
      },
    },
  });
  const kept = readdirSync(join(stack.env["PULUMI_HOME"] ?? "", "compute", "settle"));
  expect(kept.filter((name) => name.includes("new"))).toEqual([]);
  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(1);
});
