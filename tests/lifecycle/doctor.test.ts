/**
 * Tests `doctor` against an emulator with many kinds of faults: the command reports the problems that `pulumi up` would
 * have, and changes nothing.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { typed } from "../../cli/testing/typed";
import { leaveInDoubt } from "../../provider/testing/ledgerRecord";
import { fakePulumi, type HeldInstance, urnOf } from "./support/fakePulumi";
import { liveToken, test, testToken, type World } from "./support/world";

interface Diagnosis {
  /** The exit code. */
  code: number;
  /** The result, the finding and the next step of each check. */
  checks: Record<string, string>;
  /** What the provider warned of, to stderr. */
  warnings: string;
}

const hostile = "\u001b[2J\u001b]0;x\u0007\u202eevil\r\n\u2028FAILED\u009b1m";
// eslint-disable-next-line no-control-regex -- no output may have these characters
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/;

/** Runs `doctor --json`, and checks that no secret is printed and that only GET requests were sent. */
async function diagnose(
  world: World,
  args: string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Diagnosis> {
  // There is no engine on PATH. tests/engine/doctor.test.ts runs `doctor` with an engine.
  const { code, lines, warnings } = await typed(["doctor", "--json", ...args], world.env(env));
  const printed = lines.join("\n");
  const { ok, checks } = JSON.parse(printed) as {
    ok: boolean;
    checks: { check: string; result: string; found: string; next?: string }[];
  };
  expect(`${printed}${warnings.join("")}`).not.toMatch(/Canary/);
  expect(ok).toBe(code === 0);
  for (const { result, next } of checks) {
    expect(next !== undefined).toBe(result === "warning" || result === "FAILED");
  }
  for (const call of Object.keys(world.service.control.counts())) expect(call).toMatch(/^GET /);
  const descriptions = checks.map(({ check, result, found, next = "" }) => {
    expect(`${found}${next}`).not.toMatch(unprintable);
    return [check, `${result}: ${found}${next && ` → ${next}`}`];
  });
  const byCheck = Object.fromEntries(descriptions) as Diagnosis["checks"];
  return { code, checks: byCheck, warnings: warnings.join("\n") };
}

test("with a service without problems, every check is ok after two requests, and the exit code is 0", async (world) => {
  world.service.control.insert({ name: "web" });
  const seen = await diagnose(world);
  const { engine, ...others } = seen.checks;
  expect(engine).toMatch(/^warning: there is no pulumi on PATH → Install Pulumi/);
  for (const said of Object.values(others)) expect(said).toMatch(/^ok: /);
  expect(others).toMatchObject({
    "base URL": `ok: ${world.service.url} (COMPUTE_BASE_URL)`,
    token: expect.stringMatching(/^ok: test: nothing is billed.*\(COMPUTE_API_TOKEN\)/),
    account: expect.stringMatching(/^ok: 127\.0\.0\.1:\d+ accepts the token, account /),
    listing:
      "ok: 1 instance; one page shows them all; only a create shows whether the token may create",
    ledger: expect.stringMatching(/^ok: 0 creates in doubt in /),
  });
  expect(seen.code).toBe(0);
  expect(world.service.control.counts()).toEqual({ "GET /v2/account": 1, "GET /v2/instances": 1 });
});

test("the printed table has one line per check, the next step below each problem, and no escape characters", async (world) => {
  const env = world.env({ COMPUTE_API_TOKEN: "CanaryToken" });
  const { code, lines } = await typed(["doctor"], env);
  expect(code).toBe(1);
  const text = lines.join("\n");
  expect(text).toMatch(
    /^FAILED +token +compute:apiToken .*COMPUTE_API_TOKEN.* must start with sk_/m,
  );
  expect(text).toMatch(/\n +→ Token of the service.*pulumi config set --secret compute:apiToken/);
  expect(text).not.toMatch(/^\S+ +(account|listing) /m);
  expect(lines.at(-1)).toBe("First mend what FAILED.");
  expect(text).not.toMatch(/Canary/);
  for (const line of lines) expect(line).not.toMatch(unprintable);
});

test("if nobody listens, the account check fails, and the listing is not asked for", async (world) => {
  await world.service.close();
  const seen = await diagnose(world);
  expect(seen.checks["account"]).toMatch(/^FAILED: .*connection refused.* → Nothing was sent/);
  expect(seen.checks["listing"]).toBeUndefined();
  expect(seen.code).toBe(1);
});

test("with a token that is revoked, the account check fails with the message of the service", async (world) => {
  world.service.control.declareToken(testToken, { state: "revoked" });
  const seen = await diagnose(world);
  expect(seen.checks["account"]).toMatch(
    /^FAILED: .*revoked.*HTTP 401.*request_id req_.* → The token is invalid, expired/,
  );
  expect(seen.checks["listing"]).toBeUndefined();
  expect(seen.code).toBe(1);
});

test("doctor names the kind of the token, and the file that it comes from", async (world) => {
  const live = { COMPUTE_API_TOKEN: liveToken };
  const seen = await diagnose(world, [], live);
  expect(seen.checks["token"]).toMatch(/^ok: live: billing is active/);
  expect(seen.code).toBe(0);
  const file = join(world.home, "token");
  const env = { COMPUTE_API_TOKEN: "", COMPUTE_API_TOKEN_FILE: file };
  expect((await diagnose(world, [], env)).checks["token"]).toMatch(
    /^FAILED: compute:apiToken can't be taken from the environment: the file .*token \(COMPUTE_API_TOKEN_FILE\) does not exist → /,
  );
  writeFileSync(file, testToken);
  const { code, checks } = await diagnose(world, [], env);
  rmSync(file);
  expect(checks["token"]).toMatch(/^ok: test: .* \(COMPUTE_API_TOKEN_FILE: .*token\)$/);
  expect(code).toBe(0);
});

test("each missing or wrong setting is named with the places where it is looked for, and nothing is sent", async (world) => {
  const none = { COMPUTE_BASE_URL: "", COMPUTE_API_TOKEN: "" };
  const missing = await diagnose(world, [], none);
  expect(missing.checks["base URL"]).toMatch(
    /^FAILED: compute:baseUrl is not set in --base-url, COMPUTE_BASE_URL/,
  );
  expect(missing.checks["token"]).toMatch(
    /^FAILED: compute:apiToken is not set in COMPUTE_API_TOKEN, COMPUTE_API_TOKEN_FILE or the configuration of a stack \(none/,
  );
  const wrong = await diagnose(world, [
    ...["--base-url", "http://compute.example/v2", "--poll-interval-seconds", "soon"],
    ...["--validate-credentials", "perhaps"],
  ]);
  expect(wrong.checks["base URL"]).toMatch(/^FAILED: --base-url must be https/);
  expect(wrong.checks["settings"]).toMatch(
    /--poll-interval-seconds must .*; --validate-credentials must .* → Correct each of these settings in the place where it is set\.$/,
  );
  expect(wrong.checks["account"]).toBeUndefined();
  expect(wrong.code).toBe(1);
  expect(world.service.control.counts()).toEqual({});
});

test("the settings of the selected stack come before the environment, and a token in clear text is a warning", async (world) => {
  const config = {
    "compute:baseUrl": { value: world.service.url },
    "compute:apiToken": { value: testToken, secret: false },
    "other:name": { secret: true },
  };
  const path = fakePulumi(world, {}, { config, selected: "acme/p/dev" });
  const env = { PATH: `${path}:/usr/bin:/bin`, COMPUTE_BASE_URL: "https://other.example/v2" };
  const clear = await diagnose(world, [], env);
  expect(clear.checks["stack"]).toBe("ok: acme/p/dev: 2 settings of compute");
  expect(clear.checks["base URL"]).toBe(`ok: ${world.service.url} (compute:baseUrl)`);
  expect(clear.checks["token"]).toMatch(
    /^warning: test: .* in clear text → `pulumi config set --secret compute:apiToken --stack acme\/p\/dev` .*replace the token/,
  );
  expect(clear.code).toBe(0);
  const secret = { ...config, "compute:apiToken": { value: testToken, secret: true } };
  fakePulumi(world, {}, { config: secret, selected: "acme/p/dev" });
  expect((await diagnose(world, [], env)).checks["token"]).toMatch(/^ok: .*\(compute:apiToken\)$/);
  expect((await diagnose(world, ["--stack", "dev"], env)).checks["stack"]).toMatch(
    /^FAILED: stack acme\/p\/dev does not belong to the project of this folder/,
  );
  fakePulumi(world, {});
  expect((await diagnose(world, [], { PATH: env.PATH })).checks["stack"]).toBe(
    "ok: none: no stack is selected, so the settings come from the environment",
  );
});

test("doctor warns of the stack's instances that were made at another address or with another token kind, unless the program makes their provider", async (world) => {
  const { url } = world.service;
  const stateWith = async (held: HeldInstance[], env: NodeJS.ProcessEnv = {}) => {
    const path = fakePulumi(world, { dev: { held } }, { selected: "dev" });
    return diagnose(world, [], { PATH: `${path}:/usr/bin:/bin`, ...env });
  };
  const [web, db] = [
    { name: "web", id: "i-1" },
    { name: "db", id: "i-2", origin: { baseUrl: "https://a.example/v2" } },
  ];
  const noneAway = (instances: string) => `ok: ${instances} of dev, none made with other settings`;
  expect((await stateWith([])).checks["state"]).toBe(noneAway("0 instances"));
  expect((await stateWith([web])).checks["state"]).toBe(noneAway("1 instance"));
  const { code, checks } = await stateWith([web, db]);
  expect(checks["state"]).toBe(
    `warning: 1 of 2 instances of dev made with other settings (i-2: it lives at https://a.example/v2, but compute:baseUrl (from COMPUTE_BASE_URL) is ${url}) → Use the settings with which they were made. With these, \`pulumi up\` may not notice, and makes further instances, and a refresh, a replacement or a delete of the old ones fails.`,
  );
  expect(code).toBe(0);
  expect((await stateWith([web], { COMPUTE_API_TOKEN: liveToken })).checks["state"]).toMatch(
    /^warning: 1 of 1 instance of dev made with other settings \(i-1: it was made with a test token/,
  );
  // A wrong address often answers nothing.
  const unreachable = { COMPUTE_BASE_URL: "http://127.0.0.1:1/v2" };
  expect((await stateWith([web], unreachable)).checks["state"]).toMatch(/^warning: .*it lives at/);
  const other = {
    ...db,
    provider: `${urnOf("own").replace("compute:index:Instance", "pulumi:providers:compute")}::1`,
  };
  expect((await stateWith([web, other, { ...web, origin: null }])).checks["state"]).toBe(
    noneAway("3 instances"),
  );
  expect((await diagnose(world)).checks["state"]).toBeUndefined();
});

test("a token without the account scope is a warning, a token without the list scope is a failure", async (world) => {
  const { control } = world.service;
  control.declareToken(testToken, { scopes: ["list", "create"] });
  const refused = await diagnose(world);
  expect(refused.warnings).toBe("");
  expect(refused.checks["account"]).toMatch(/^warning: .*HTTP 403.*validateCredentials to false\./);
  expect(refused.checks["listing"]).toMatch(/^ok: 0 instances; .*only a create shows whether/);
  expect(refused.code).toBe(0);
  const meant = await diagnose(world, ["--validate-credentials", "false"]);
  expect(meant.warnings).toBe("");
  expect(meant.checks["account"]).toMatch(/^ok: not asked, .*validateCredentials is false/);
  control.declareToken(testToken, { scopes: ["account", "create"] });
  const blind = await diagnose(world);
  expect(blind.checks["listing"]).toMatch(/^FAILED: GET \/v2\/instances: .*HTTP 403.* → .*scope/);
  expect(blind.code).toBe(1);
});

test("a pause that the service asks for is reported at once if it is longer than a request may take", async (world) => {
  world.service.control.fault({ kind: "status", status: 429, retryAfter: 120, times: "always" });
  const seen = await diagnose(world);
  expect(seen.checks["account"]).toMatch(
    /^warning: .*HTTP 429.*until .* \(Retry-After\).* → Run the command again after that time/,
  );
  expect(seen.checks["listing"]).toBeUndefined();
  expect(seen.code).toBe(0);
  expect(world.service.control.counts()).toEqual({ "GET /v2/account": 1 });
});

function insert(world: World, number: number): void {
  for (let n = 0; n < number; n++) world.service.control.insert({ name: `web-${n}` });
}

test(
  "the cursor parameter is not tried until there is a second page, and a wrong one is then a warning",
  async (world) => {
    const listingWith = async (cursor: string) => {
      const { checks, warnings } = await diagnose(world, ["--cursor-parameter", cursor]);
      return `${checks["listing"]}\n${warnings}`;
    };
    insert(world, 3);
    expect(await listingWith("after")).toMatch(/^ok: 3 instances; one page shows them all; only/);
    insert(world, 100);
    expect(await listingWith("after")).toMatch(/^ok: 103 instances; in pages by "after"; only/);
    expect(await listingWith("before")).toMatch(
      /^warning: .* is not complete.*\nwarning: the service did not page by compute:cursorParameter "before" \(a page repeated.* Set compute:cursorParameter to /,
    );
  },
  { cursorParameter: "after" },
);

test(
  "the usual cursor needs no setting, and is named",
  async (world) => {
    insert(world, 101);
    const { checks, warnings } = await diagnose(world);
    expect(checks["listing"]).toMatch(/^ok: 101 instances; in pages by "starting_after"; only/);
    expect(warnings).toBe("");
  },
  { cursorParameter: "starting_after" },
);

test("more instances than a page without a cursor are a warning", async (world) => {
  insert(world, 101);
  const { checks, code } = await diagnose(world);
  expect(checks["listing"]).toMatch(
    /^warning: 100 instances.* listing is not complete.*compute:cursorParameter → `.* probe` finds out .*https:.*docs.scaling/,
  );
  expect(code).toBe(0);
});

test("items that can't be read are counted", async (world) => {
  const text = '{"object":"list","data":[{"name":"no id"},{"id":"i"}],"has_more":false}';
  world.service.control.fault({ kind: "body", text, path: "/v2/instances" });
  const { checks, code } = await diagnose(world);
  expect(checks["listing"]).toMatch(
    /^warning: 1 instance, but .*: it holds an item that can't be read, .* → /,
  );
  expect(code).toBe(0);
});

test("a string from the service is printed as one line without control characters and without the token", async (world) => {
  const { control } = world.service;
  control.setAccount({ json: { id: `${hostile}${testToken}` } });
  const { checks } = await diagnose(world);
  expect(checks["account"]).toMatch(/^ok: .*evil.*\[secret\]/);
  const message = `${hostile} Bearer ${testToken}`;
  control.fault({ kind: "status", status: 401, message, code: hostile });
  expect((await diagnose(world)).checks["account"]).toMatch(/^FAILED: .*evil.*Bearer \[secret\]/);
});

test("creates in doubt, and files of the ledger that can't be read, are warnings", async (world) => {
  await leaveInDoubt(world.ledger, "web", { baseUrl: world.service.url });
  const open = await diagnose(world);
  expect(open.checks["ledger"]).toMatch(
    /^warning: 1 create in doubt in .* → For each stack: `\S+ settle`/,
  );
  expect(open.code).toBe(0);
  const elsewhere = { PULUMI_BACKEND_URL: "file:///another" };
  expect((await diagnose(world, [], elsewhere)).checks["ledger"]).toMatch(
    /^ok: 0 creates in doubt in .*; 1 with another state backend$/,
  );
  writeFileSync(join(world.ledger, "0123456789ab.json"), "{\n");
  expect((await diagnose(world, [], elsewhere)).checks["ledger"]).toMatch(
    /^warning: a file of the ledger can't be read, .* → Look at/,
  );
});
