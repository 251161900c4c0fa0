/**
 * Follows what the messages about settings, the token and failed requests advise to its end (G9): `up` makes one instance,
 * and the next one changes nothing.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { startEmulator } from "../../emulator";
import { temporaryFolder } from "../../provider/testing/temporaryFolder";
import { creates, Fixture, lists } from "./support/fixture";
import { emptyProgram, instances, type Inputs } from "./support/programs";
import { canaries } from "./support/secrets";
import { plugin, tokens } from "./support/stack";
import { expectAgreement, isWell, printed, typePrinted, typeToken } from "./support/typing";

const doctor = `'${plugin}' doctor`;

/** Expects that an `up` makes the one instance, and that everything then agrees. */
async function expectOneMade(fixture: Fixture): Promise<void> {
  await fixture.stack.up();
  await expectAgreement(fixture);
  expect(fixture.posts()).toBe(1);
}

// ── Settings ─────────────────────────────────────────────────────────────────────────────────────

test.each(["pulumi config set", "the environment"])(
  "without an address and a token, what the message says of %s makes up work",
  async (way) => {
    await using fixture = await Fixture.create({ token: null, baseUrl: undefined });
    const { stack, service } = fixture;
    const failed = await stack.fail("up");

    if (way === "the environment") {
      expect(failed).toMatch(
        /or set COMPUTE_BASE_URL in the environment[^]*or set COMPUTE_API_TOKEN/,
      );
      stack.setEnv("COMPUTE_BASE_URL", service.url);
      stack.setEnv("COMPUTE_API_TOKEN", tokens.test);
    } else {
      await typePrinted(fixture, failed, "compute:baseUrl", { "https://…/v2": service.url });
      await typeToken(fixture, printed(failed, "compute:apiToken"), tokens.test);
    }

    await expectOneMade(fixture);
  },
);

test("if an explicit provider lacks the token, the argument that the message names makes up work", async () => {
  await using fixture = await Fixture.create({ program: emptyProgram, token: null });
  const { stack, service } = fixture;
  const programWith = (more: Inputs) => {
    const properties = { baseUrl: service.url, settlingSeconds: 1, ...more };
    const own = { type: "pulumi:providers:compute", properties };
    const config = { token: { type: "string", secret: true } };
    return instances({ web: { options: { provider: "${own}" } } }, { resources: { own }, config });
  };
  await typeToken(fixture, "pulumi config set --secret token", tokens.test);
  stack.program(programWith({}));
  expect(await stack.fail("up")).toContain(
    'set the argument `apiToken` of the provider "own" to a secret of the configuration',
  );

  stack.program(programWith({ apiToken: "${token}" }));

  await expectOneMade(fixture);
});

test("after a wrong token is corrected where it is set, the refresh that is run again works", async () => {
  await using fixture = await Fixture.create();
  const { stack } = fixture;
  await stack.up();
  stack.setEnv("COMPUTE_API_TOKEN", `not-a-${canaries.token}`);
  expect(await stack.fail("refresh")).toContain(
    "Correct each setting in the place where it is set",
  );

  stack.setEnv("COMPUTE_API_TOKEN", tokens.test);
  await stack.refresh();

  await expectAgreement(fixture);
});

// `up` says the same, but only after a minute (tests/simulation/overload.test.ts).
test("with the address of another port, doctor says what to check, and up works with the right address", async () => {
  await using fixture = await Fixture.create();
  const { stack, service } = fixture;
  // Only root may listen on this port, so nothing does.
  await stack.configure({ baseUrl: "http://127.0.0.1:1/v2" });
  expect(await stack.typeFailing(doctor)).toContain(
    "Check compute:baseUrl, the network and the proxy settings",
  );

  await stack.configure({ baseUrl: service.url });

  expect(await stack.type(doctor)).toMatch(isWell);
  await expectOneMade(fixture);
});

test("if a listing takes longer than the time-out of a request, the longer time-out makes up work", async () => {
  await using fixture = await Fixture.create({ config: { requestTimeoutSeconds: "1" } });
  const { stack, control } = fixture;
  control.fault({ ...lists, kind: "delay", milliseconds: 2000, times: "always" });
  expect(await stack.typeFailing(doctor)).toContain(
    "a longer compute:requestTimeoutSeconds may help",
  );

  await stack.configure({ requestTimeoutSeconds: "10" });

  await expectOneMade(fixture);
});

test("if a refresh fails with a wrong address from the environment, it names the variable, and works once that is corrected", async () => {
  await using other = await startEmulator();
  await using fixture = await Fixture.create({ baseUrl: undefined });
  const { stack, service } = fixture;
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  await stack.up();
  stack.setEnv("COMPUTE_BASE_URL", other.url);
  const failed = await stack.fail("refresh");
  expect(failed).toContain(`but compute:baseUrl (from COMPUTE_BASE_URL) is ${other.url}`);
  expect(failed).toContain(`put COMPUTE_BASE_URL=${service.url} before the command`);

  stack.setEnv("COMPUTE_BASE_URL", service.url);
  await stack.refresh();

  await expectAgreement(fixture);
});

// ── The token ────────────────────────────────────────────────────────────────────────────────────

/** Returns the path of a file with this text, outside of the stack's folder, in which no secret may be. */
function fileWith(text: string): string {
  const file = join(temporaryFolder(), "token");
  writeFileSync(file, text);
  return file;
}

test.each(["the configuration", "COMPUTE_API_TOKEN", "COMPUTE_API_TOKEN_FILE"])(
  "after a token was revoked, up works with a new one in %s, where the old one was",
  async (place) => {
    await using fixture = await Fixture.create({
      service: { tokens: { [tokens.test]: { state: "revoked" } } },
    });
    const { stack } = fixture;
    const token = `${tokens.test}-renewed`;
    const file = fileWith(tokens.test);
    if (place !== "COMPUTE_API_TOKEN") stack.setEnv("COMPUTE_API_TOKEN", undefined);
    if (place === "COMPUTE_API_TOKEN_FILE") stack.setEnv(place, file);
    const setting = "pulumi config set --secret compute:apiToken";
    if (place === "the configuration") await typeToken(fixture, setting, tokens.test);
    const failed = await stack.fail("up");

    if (place === "the configuration") await typeToken(fixture, printed(failed, setting), token);
    else if (place === "COMPUTE_API_TOKEN") {
      expect(failed).toContain(`put a valid one in ${place}`);
      stack.setEnv(place, token);
    } else {
      expect(failed).toContain(`put a valid one in ${file}`);
      writeFileSync(file, token);
    }

    await expectOneMade(fixture);
  },
);

test("after a token of the state was revoked, what the refresh prints records a new one, with which a plain refresh works", async () => {
  await using fixture = await Fixture.create({ token: null });
  const { stack, control } = fixture;
  const set = "pulumi config set --secret compute:apiToken";
  await typeToken(fixture, set, tokens.test);
  await stack.up();
  control.declareToken(tokens.test, { state: "revoked" });
  const failed = await stack.fail("refresh");

  await typeToken(fixture, printed(failed, set), `${tokens.test}-renewed`);
  expect(await stack.fail("refresh")).toContain("(after a change: ");
  await stack.type(`${printed(failed, "pulumi refresh --run-program")} --yes`);

  await stack.refresh();
  await expectAgreement(fixture);
});

test("after a create for which the token lacks the scope, up works once the scope is granted", async () => {
  const listing = { scopes: ["account", "list"] } as const;
  await using fixture = await Fixture.create({ service: { tokens: { [tokens.test]: listing } } });
  const { stack, control } = fixture;
  expect(await stack.fail("up")).toContain(
    "grant it in the administration portal, or use another token",
  );

  control.declareToken(tokens.test, {});
  await stack.up();

  expect(fixture.ids()).toHaveLength(1);
  await expectAgreement(fixture);
});

test.each(["pulumi up", "pulumi refresh --run-program"])(
  "a service that refuses the account call: up, refresh and doctor work, and warn no more with the setting that they name, after %s",
  async (command) => {
    await using fixture = await Fixture.create({
      service: { tokens: { [tokens.test]: { scopes: ["list", "create"] } } },
    });
    const { stack } = fixture;
    const told = /set compute:validateCredentials to false/;
    expect(await stack.type(doctor)).toMatch(told);
    expect(await stack.up()).toMatch(told);
    expect(await stack.refresh()).toMatch(told);

    await stack.configure({ validateCredentials: "false" });
    expect(await stack.type(command)).not.toMatch(told);

    expect(await stack.refresh()).not.toMatch(told);
    expect(fixture.posts()).toBe(1);
    expect(await stack.type(doctor)).toMatch(isWell);
    await expectAgreement(fixture);
  },
);

// ── Failed requests ──────────────────────────────────────────────────────────────────────────────

const answer = (status: number) => ({ kind: "status", status, times: "always" }) as const;

test.each([
  ["a listing that fails with 501", { ...lists, ...answer(501) }, doctor, "run again later"],
  [
    "a create that is refused with 422",
    { ...creates, ...answer(422) },
    "pulumi up --yes",
    "Change what the message",
  ],
] as const)("after %s, up works once the service answers", async (_, fault, command, advised) => {
  await using fixture = await Fixture.create();
  const { stack, control } = fixture;
  control.fault(fault);
  expect(await stack.typeFailing(command)).toContain(advised);
  expect(fixture.ids()).toEqual([]);

  control.clearFaults();
  await stack.up();

  expect(fixture.ids()).toHaveLength(1);
  await expectAgreement(fixture);
});

// ── doctor ───────────────────────────────────────────────────────────────────────────────────────

test("doctor warns of a token in clear text, and the command that it prints encrypts it", async () => {
  await using fixture = await Fixture.create({ token: null });
  const { stack } = fixture;
  await typeToken(fixture, "pulumi config set --plaintext compute:apiToken", tokens.test);
  const found = await stack.type(doctor);
  expect(found).toContain("which the stack keeps in clear text");

  await typeToken(fixture, printed(found, "pulumi config set --secret"), tokens.test);

  expect(await stack.type(doctor)).toMatch(isWell);
  await expectOneMade(fixture);
});
