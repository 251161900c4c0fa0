/**
 * Tests that `pulumi refresh` with a token or an address other than that of the state drops no instance, and says how
 * to fix it (G3: nothing is forgotten on weak evidence).
 */
import { expect, test } from "@jest/globals";
import { startEmulator } from "../../emulator";
import { instances } from "./support/programs";
import { canaries } from "./support/secrets";
import { tokens } from "./support/stack";
import { Fixture } from "./support/fixture";

const rotatedToken = `sk_test_default_rotated_${canaries.token}`;
const tokenOfOther = `sk_test_other_${canaries.token}`;

test("refresh with a wrong token or address fails and keeps the state, and with the right ones succeeds", async () => {
  const program = instances({ web: {}, db: {} });
  await using fixture = await Fixture.create({ program });
  await using other = await startEmulator();
  const { stack, service } = fixture;
  expect((await stack.up()).code).toBe(0);
  const before = await stack.resources();
  const token = (value: string) => stack.setEnv("COMPUTE_API_TOKEN", value);
  const expectKept = async (says: RegExp) => {
    // With --run-program, refresh uses the settings of now and not those of the last up.
    const { code, output } = await stack.refresh("--run-program");
    expect(output).toMatch(says);
    expect(code).not.toBe(0);
    const kept = (await stack.resources()).filter(({ id }) => id?.startsWith("i-"));
    expect(kept).toEqual(before.filter(({ id }) => id?.startsWith("i-")));
  };

  token(tokens.live);
  await expectKept(/made with a test token, but the token given now is a live one.*Run again with/);

  token(tokenOfOther);
  await expectKept(/account acct_default, but the token given now is of account acct_other/);

  service.control.declareToken(tokens.test, { state: "revoked" });
  token(tokens.test);
  await expectKept(/HTTP 401, code revoked_token.*give a valid one with `pulumi config set/);

  token(rotatedToken);
  await stack.configure({ baseUrl: other.url });
  await expectKept(new RegExp(`lives at ${service.url}, but compute:baseUrl is ${other.url}`));
  await stack.configure({ baseUrl: service.url });

  const repaired = await stack.refresh("--run-program");
  expect(repaired.code).toBe(0);
  expect((await stack.instances()).map(({ id }) => id).sort()).toEqual(fixture.ids().sort());
  expect(fixture.posts()).toBe(2);
});
