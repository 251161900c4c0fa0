/** Tests of the advice in messages and of the commands that it names. */
import { expect, test } from "@jest/globals";
import {
  importCommand,
  nextStep,
  requestReport,
  settingWords,
  stackPlaces,
  stateDeleteCommand,
  type SettingPlaces,
} from "./advice";
import { wholeOf } from "./errors";
import { programQuote, shellQuote } from "./shellQuote";
import { answered, failed } from "./testing/fakeService";
import { urnOf } from "./testing/scene";

test.each([
  [answered(401), "revoked: set a valid one with `pulumi config set --secret compute:apiToken`."],
  [answered(403, "POST", false), ". The token lacks the scope for this call"],
  // Some services answer a quota so.
  [answered(403), ". Unless that names another reason, the token lacks the scope for this call"],
  [answered(400), "Correct what the message names"],
  [answered(302), "Check that compute:baseUrl"],
  [answered(404, "GET"), "Check that compute:baseUrl"],
  [answered(405, "DELETE"), "Check that compute:destroyPath is the service's destroy call."],
  [answered(404, "POST"), "Correct what the message names"],
  [
    Object.assign(answered(422), { service: { code: "flavor_sold_out" } }),
    "Change what the message names, or run again later.",
  ],
  [failed("unreachable"), "Nothing was sent"],
  [failed("unreachable").with({ mayHaveActed: true }), "unreachable. Check compute:baseUrl"],
  [failed("unanswered"), "requestTimeoutSeconds"],
  [answered(408), "Run again"],
  [answered(429), "Run again"],
  [failed("unreadable"), "compute:baseUrl"],
  [answered(500), "run again later."],
  [
    Object.assign(answered(500), { service: { requestId: "req_1" } }),
    "run again later, and give its operator the request_id.",
  ],
])("the message of %s is followed by the next step", (error, step) => {
  expect(wholeOf(requestReport("nothing was created", error)).join(" ")).toContain(step);
});

const recorded = { kind: "recorded" };
const after = " (after a change: `pulumi refresh --run-program`)";
test.each<[string, Partial<SettingPlaces>, string, string]>([
  [
    "a stack",
    {},
    "compute:baseUrl,",
    "set a valid one with `pulumi config set --secret compute:apiToken`.",
  ],
  [
    "the stack that a command names",
    { stack: "acme/p/prod", variables: { baseUrl: "--base-url" } },
    "compute:baseUrl (from --base-url),",
    "with `pulumi config set --secret compute:apiToken --stack acme/p/prod`.",
  ],
  [
    "the state",
    { engine: recorded },
    `compute:baseUrl${after},`,
    `with \`pulumi config set --secret compute:apiToken\`${after}.`,
  ],
  [
    "the environment, in a destroy",
    {
      engine: recorded,
      variables: { baseUrl: "COMPUTE_BASE_URL", apiToken: "COMPUTE_API_TOKEN" },
    },
    "compute:baseUrl (from COMPUTE_BASE_URL),",
    "put a valid one in COMPUTE_API_TOKEN.",
  ],
  [
    "a provider, in a destroy",
    { engine: recorded, providerUrn: "urn:pulumi:dev::proj::pulumi:providers:compute::own" },
    `baseUrl of the provider "own"${after},`,
    `give the provider "own" a valid one as apiToken${after}.`,
  ],
])("the next step for settings of %s names the one place", (_, from, address, token) => {
  const words = settingWords({ ...stackPlaces, ...from });
  expect(nextStep(failed("unreachable").with({ words }))).toContain(`Check ${address} the network`);
  expect(nextStep(answered(401).with({ words }))).toContain(token);
});

test("the next step for a request that is too large names gzip", () => {
  expect(nextStep(answered(413, "POST", false))).toMatch(
    /too large for the service or a proxy .*gzip/,
  );
});

test("commands are quoted for the shell of the system", () => {
  const words = ["web-1=i-1", "it's mine", "a,b", "@x", "a$(x)", "C:\\a.json", ""];
  const quoted = (platform: NodeJS.Platform) => words.map((word) => shellQuote(word, platform));
  expect(quoted("linux").join(" ")).toBe(
    `web-1=i-1 'it'\\''s mine' a,b @x 'a$(x)' 'C:\\a.json' ''`,
  );
  expect(quoted("win32").join(" ")).toBe(`web-1=i-1 'it''s mine' 'a,b' '@x' 'a$(x)' C:\\a.json ''`);
  const [name, id] = [shellQuote("it's mine"), shellQuote("<id>")];
  expect(importCommand({ urn: urnOf("it's mine") }, "<id>")).toBe(
    `pulumi import compute:index:Instance ${name} ${id}`,
  );
  expect(stateDeleteCommand(urnOf("web"))).toBe(
    `pulumi state delete ${urnOf("web")} --force --yes`,
  );
});

test("PowerShell runs a program whose path is quoted, instead of printing the path", () => {
  expect(programQuote("C:\\a b.exe", "win32")).toBe("& 'C:\\a b.exe'");
  expect(programQuote("C:\\a.exe", "win32")).toBe("C:\\a.exe");
  expect(programQuote("/a b", "linux")).toBe("'/a b'");
});

test("an import command tells a name and an id that begin with a dash from options", () => {
  expect(importCommand({ urn: urnOf("-web") }, "i-1")).toBe(
    "pulumi import compute:index:Instance -- -web i-1",
  );
  const child = urnOf("web").replace("compute:index", "my:mod:Group$compute:index");
  expect(importCommand({ urn: child }, "-i")).toMatch(/Instance --parent '.*' -- web -i$/);
});

test("the import command of a child of a component names its parent, or asks for it", () => {
  const child = urnOf("web").replace("compute:index", "my:mod:Group$compute:index");
  const parent = "urn:pulumi:dev::proj::my:mod:Group::group";
  expect(importCommand({ urn: child }, "i-1")).toMatch(/ web i-1 --parent '<name>=<urn of /);
  expect(importCommand({ urn: child, parent }, "i-1")).toMatch(` web i-1 --parent group=${parent}`);
  expect(importCommand({ urn: urnOf("web") }, "i-1")).not.toContain("--parent");
});

test("the import command of a resource with an explicit provider names that provider", () => {
  const provider = "urn:pulumi:dev::proj::pulumi:providers:compute::own";
  const command = "pulumi import compute:index:Instance web i-1";
  expect(importCommand({ urn: urnOf("web"), provider }, "i-1")).toBe(
    `${command} --provider own=${provider}`,
  );
});
