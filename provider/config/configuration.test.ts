/** Tests of how the settings are read and checked. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { stackPlaces, type SettingPlaces } from "../advice";
import { OperationFailed } from "../errors";
import { propertyMap, Secret, Unknown, type PropertyValue } from "../pulumi/propertyValue";
import { Redactor } from "../redaction";
import { temporaryFolder } from "../testing/temporaryFolder";
import { checkConfig, resolveSettings } from "./configuration";
import { settingNames } from "./settings";

const required = { baseUrl: "https://api.example.com/v2", apiToken: new Secret("sk_live_abcdef") };
const source = (env: NodeJS.ProcessEnv = {}) => ({ env, redactor: new Redactor() });
const settings = (more: Record<string, PropertyValue>, env: NodeJS.ProcessEnv = {}) =>
  resolveSettings(propertyMap({ ...required, ...more }), source(env));
/** Returns what is wrong, in the words that a user sees. */
function failures(more: Record<string, PropertyValue>, env: NodeJS.ProcessEnv = {}) {
  const { redactor } = source(env);
  const checked = checkConfig(propertyMap({ ...required, ...more }), { env, redactor });
  return checked.failures.map((failure) => redactor.redact(failure));
}

test("with only an address and a token, all other settings have their defaults", () => {
  expect(settings({})).toEqual({
    baseUrl: "https://api.example.com/v2",
    apiToken: "sk_live_abcdef",
    tokenKind: "live",
    requestsPerMinute: 1000,
    requestTimeoutMs: 30_000,
    pollIntervalMs: 3000,
    settlingMs: 60_000,
    deletePolicy: "fail",
    userDataInState: "secret",
    refreshBeforeUpdate: false,
    destroyPath: undefined,
    cursorParameter: undefined,
    validateCredentials: true,
  });
});

test.each([
  ["requestsPerMinute", 120, { requestsPerMinute: 120 }],
  ["requestTimeoutSeconds", 1.5, { requestTimeoutMs: 1500 }],
  ["pollIntervalSeconds", 2, { pollIntervalMs: 2000 }],
  ["settlingSeconds", 600, { settlingMs: 600_000 }],
  ["validateCredentials", false, { validateCredentials: false }],
  ["refreshBeforeUpdate", "true", { refreshBeforeUpdate: true }],
  ["deletePolicy", "retain", { deletePolicy: "retain" }],
  ["destroyPath", "/v2/instances/{id}", { deletePolicy: "destroy" }],
  ["cursorParameter", "starting_after", { cursorParameter: "starting_after" }],
  ["requireTokenKind", "live", { tokenKind: "live" }],
  // As the SDKs for Java and .NET send an enum.
  ["leftovers", '"fail"', { leftovers: "fail" }],
  ["userDataInState", "hash", { userDataInState: "hash" }],
  ["baseUrl", "https://b.example/v2/", { baseUrl: "https://b.example/v2" }],
  ["apiToken", "sk_test_xyz123", { tokenKind: "test", deletePolicy: "retain" }],
])(
  "%s may be a value, a string or a secret, and null counts as left out",
  (name, value, effect) => {
    for (const given of [value, `${value}`, new Secret(value), new Secret(`${value}`)]) {
      expect(failures({ [name]: given })).toEqual([]);
      expect(settings({ [name]: given })).toMatchObject(effect);
    }
    const env = { COMPUTE_BASE_URL: "https://e.example/v2", COMPUTE_API_TOKEN: "sk_live_env123" };
    for (const given of [null, new Secret(null)])
      expect(failures({ [name]: given }, env)).toEqual([]);
  },
);

test.each([
  ["requestsPerMinute", [0, -1, 1.5, "many", "", true, [1]], "must be a whole number"],
  ["requestTimeoutSeconds", [0, "0", 86_401, "1e9", "soon"], "must be a number of seconds"],
  ["pollIntervalSeconds", [0, -3, "x", 61], "must be a number of seconds"],
  ["settlingSeconds", [0, "x", 601], "must be a number of seconds"],
  ["validateCredentials", ["yes", 1], "must be true or false"],
  ["refreshBeforeUpdate", ["yes", 1], "must be true or false"],
  ["deletePolicy", ["forget", 1], 'must be "fail", "retain" or "destroy"'],
  ["destroyPath", ["/v1/instances/{id}", "/v2/instances", "/v2/i/{id}?x", 3], "must be"],
  ["cursorParameter", ["", "a b", "a=b"], "must"],
  ["requireTokenKind", ["prod"], 'must be "live" or "test"'],
  ["baseUrl", ["", "nonsense", 5], "must"],
])(
  "a bad %s is refused in the preview and in the run, with a reason that names it",
  (name, values, why) => {
    for (const value of values) {
      const refused = [expect.stringContaining(`compute:${name} ${why}`)];
      for (const given of [value, new Secret(value)])
        expect(failures({ [name]: given })).toEqual(refused);
      expect(() => settings({ [name]: value })).toThrow(OperationFailed);
      expect(() => settings({ [name]: value })).toThrow(`\n  compute:${name} ${why}`);
    }
  },
);

test.each(settingNames)("an Output that became text is refused as compute:%s", (name) => {
  const text =
    "sk_test_Calling [toString] on an [Output<T>] is not supported.\n\nTo get the value of an Output<T> as an Output<string> consider either:\n2: pulumi.interpolate `prefix${v}suffix`";
  const reason = `compute:${name} has the text of an Output in it, and not its value: use an apply`;
  expect(failures({ [name]: text })).toContainEqual(reason);
});

test.each(["pk_live_abcdef", "sk_live_abc def", "sk_live_abc\n", 7])(
  "a bad token is not quoted: %j (G8, G9)",
  (token) => {
    const [failure] = failures({ apiToken: token });
    expect(failure).toMatch(/^compute:apiToken must/);
    expect(failure).not.toContain("abc");
  },
);

test.each([
  ["apitoken", "apiToken"],
  ["token", "apiToken"],
  ["apiKey", "apiToken"],
  ["api_key", "apiToken"],
  ["url", "baseUrl"],
  ["endpoint", "baseUrl"],
])("for compute:%s, compute:%s is guessed", (given, meant) => {
  const reason = `compute:${given} is no setting of the provider; did you mean compute:${meant}?`;
  expect(failures({ [given]: "sk_live_abcdef" })).toEqual([reason]);
});

/** What a person may paste into the place of any setting, and where the check of the setting looks. */
const pasted = [
  "Canary",
  "Canary x",
  "https://user:Canary@api.example.com/v2",
  "https://api.example.com/v2?key=Canary",
  "https://api.example.com/v2#Canary",
  "http://api.example.com/Canary/v2",
  "https://api.example.com/Canary",
  "/v2/instances/{id}?key=Canary",
  "sk_live_Canary\n",
  "1e9Canary",
];
test.each([...settingNames, "anything"])(
  "whatever is pasted into %s, no failure and no error quotes it (G8)",
  (name) => {
    const given = [...pasted, ...pasted.map((text) => [text]), ...pasted.map((text) => ({ text }))];
    for (const value of given) {
      for (const failure of failures({ [name]: value })) {
        expect(failure).toContain(`compute:${name} `);
        expect(failure).not.toContain("Canary");
        expect(() => settings({ [name]: value })).not.toThrow("Canary");
      }
    }
    // Every setting refuses at least one of them.
    expect(given.some((value) => failures({ [name]: value }).length > 0)).toBe(true);
  },
);

test("all wrong settings are reported at once", () => {
  const told = failures({ baseUrl: "x", pollIntervalSeconds: 0, nonsense: 1 });
  const named = told.map((failure) => /^compute:(\w+) /.exec(failure)?.[1]);
  expect(named.sort()).toEqual(["baseUrl", "nonsense", "pollIntervalSeconds"]);
});

test("a setting that is not known yet is not checked, even if another setting needs it (G10)", () => {
  const destroying = { deletePolicy: "destroy", destroyPath: "/v2/i/{id}" };
  for (const name of ["baseUrl", "apiToken", "destroyPath", "deletePolicy", "requestsPerMinute"]) {
    expect(failures({ ...destroying, [name]: Unknown.value })).toEqual([]);
    expect(failures({ ...destroying, [name]: new Secret(Unknown.value) })).toEqual([]);
  }
});

test("the policy `destroy` needs `destroyPath`, and a wrong path is reported as wrong, not as missing", () => {
  expect(failures({ deletePolicy: "destroy" })).toEqual([
    expect.stringMatching(/^compute:deletePolicy .* needs compute:destroyPath/),
  ]);
  expect(failures({ deletePolicy: "destroy", destroyPath: "/wrong" })).toEqual([
    expect.stringMatching(/^compute:destroyPath must be a path/),
  ]);
});

test.each([
  ["test", "sk_live_abcdef", "billing is active"],
  ["live", "sk_test_abcdef", "ephemeral"],
])("if a %s token is required, the other kind is refused", (kind, token, why) => {
  const [failure] = failures({ requireTokenKind: kind, apiToken: token });
  expect(failure).toMatch(new RegExp(`^compute:requireTokenKind is "${kind}", but .*${why}`));
  expect(failure).not.toContain(token);
});

test("the environment is used only for settings that the configuration leaves out", () => {
  const env = { COMPUTE_BASE_URL: "https://e.example/v2", COMPUTE_API_TOKEN: "sk_test_env123" };
  expect(resolveSettings(propertyMap({}), source(env))).toMatchObject({
    baseUrl: "https://e.example/v2",
    apiToken: "sk_test_env123",
  });
  expect(settings({}, env)).toMatchObject({ baseUrl: required.baseUrl, tokenKind: "live" });
});

test.each([{}, { baseUrl: null }])(
  "a bad value from the environment is reported with its variable",
  (given) => {
    const args = propertyMap({ apiToken: required.apiToken, ...given });
    const [failure] = checkConfig(args, source({ COMPUTE_BASE_URL: "nonsense" })).failures;
    expect(failure).toMatch(/^compute:baseUrl \(from COMPUTE_BASE_URL\) must be an address/);
  },
);

test("an empty environment variable counts as not set", () => {
  expect(() => resolveSettings(propertyMap({}), source({ COMPUTE_API_TOKEN: "" }))).toThrow(
    "COMPUTE_API_TOKEN in the environment",
  );
});

const providerUrn = "urn:pulumi:dev::proj::pulumi:providers:compute::second";
test.each<[string, Partial<SettingPlaces>, [string, string]]>([
  ["a stack", {}, ["run `pulumi config set compute:baseUrl", "run `pulumi config set --secret"]],
  [
    "recorded",
    { engine: { kind: "recorded" } },
    [
      "/v2` \\(after a change: `pulumi refresh --run-program`\\), or",
      "--secret .* \\(after a change: ",
    ],
  ],
  [
    "of a provider",
    { providerUrn },
    ['argument `baseUrl` of the provider "second"', "`apiToken` .* to a secret"],
  ],
  [
    "of no stack",
    { engine: { kind: "stateless" } },
    ["set the flag --compute:base-url", "set COMPUTE_API_TOKEN in the environment"],
  ],
])(
  "what is missing of settings (%s) can be set where they come from",
  (_, from, [baseUrl, token]) => {
    const places = { ...stackPlaces, ...from };
    const resolve = () => resolveSettings(propertyMap({}), source(), places);
    expect(resolve).toThrow(new RegExp(`^.*\n  compute:baseUrl: .*${baseUrl}.*COMPUTE_BASE_URL`));
    expect(resolve).toThrow(new RegExp(`\n  compute:apiToken: .*${token}`));
    // No advice keeps the token in clear text, and each variable is named once.
    expect(resolve).not.toThrow(/config set compute:apiToken|--compute:api-token/);
    expect(resolve).not.toThrow(/COMPUTE_API_TOKEN_FILE.*COMPUTE_API_TOKEN_FILE/);
    expect(checkConfig(propertyMap({}), source()).failures).toEqual([]);
  },
);

test("a plain token becomes a secret for the state, and nothing else is added (G8)", () => {
  const given = propertyMap({ baseUrl: "https://a.example/v2", apiToken: "sk_live_abcdef" });
  const elsewhere = source({ COMPUTE_API_TOKEN: "sk_live_other1" });
  const { inputs } = checkConfig(given, elsewhere);
  expect(inputs).toEqual({ ...given, apiToken: new Secret("sk_live_abcdef") });
  expect(checkConfig(propertyMap({}), elsewhere).inputs).toEqual({});
});

/** The path of a file with this content. */
function fileOf(content: string): string {
  const file = join(temporaryFolder(), "token");
  writeFileSync(file, content);
  return file;
}
const resolve = (args: Record<string, PropertyValue>, env: NodeJS.ProcessEnv) =>
  resolveSettings(propertyMap({ baseUrl: required.baseUrl, ...args }), source(env));
const fileToken = "sk_test_fromFileCanary";

test("the token is read from the file of COMPUTE_API_TOKEN_FILE, without the line break at its end", () => {
  const file = fileOf(`${fileToken}\n`);
  expect(resolve({}, { COMPUTE_API_TOKEN_FILE: file })).toMatchObject({
    apiToken: fileToken,
    apiTokenFile: file,
    tokenKind: "test",
  });
  const args = propertyMap({ baseUrl: required.baseUrl });
  const checked = checkConfig(args, source({ COMPUTE_API_TOKEN_FILE: file }));
  expect(checked).toEqual({ inputs: args, failures: [] });
});

test("a token of the configuration wins over the file, which is then not read", () => {
  const env = { COMPUTE_API_TOKEN_FILE: "/no/such/file" };
  const { apiToken, apiTokenFile } = resolve({ apiToken: required.apiToken }, env);
  expect({ apiToken, apiTokenFile }).toEqual({ apiToken: "sk_live_abcdef" });
});

test.each(["sk_live_", "sk_test_"])(
  "a token that ends after its prefix, %s, is refused wherever it comes from, and the prefix is not hidden in messages",
  (token) => {
    const args = propertyMap({ baseUrl: required.baseUrl });
    const redactor = new Redactor();
    const reasons = [
      checkConfig(propertyMap({ ...args, apiToken: token }), { env: {}, redactor }),
      checkConfig(args, { env: { COMPUTE_API_TOKEN: token }, redactor }),
      checkConfig(args, { env: { COMPUTE_API_TOKEN_FILE: fileOf(`${token}\n`) }, redactor }),
    ].map((checked) => checked.failures);
    const why = expect.stringMatching(
      /^compute:apiToken .*ends after its prefix; was it copied whole\?$/,
    );
    expect(reasons).toEqual([[why], [why], [why]]);
    const advice = "must start with sk_live_ or sk_test_";
    expect(redactor.redact(advice)).toBe(advice);
  },
);

test("a token with `Bearer ` in front of it, or in quotes, is refused in words that the redaction leaves whole (G8, G9)", () => {
  const told = (token: string) => {
    const redactor = new Redactor();
    const args = propertyMap({ baseUrl: required.baseUrl });
    return [
      checkConfig(propertyMap({ ...args, apiToken: token }), { env: {}, redactor }),
      checkConfig(args, { env: { COMPUTE_API_TOKEN: token }, redactor }),
      checkConfig(args, { env: { COMPUTE_API_TOKEN_FILE: fileOf(`${token}\n`) }, redactor }),
    ].map(({ failures: [failure = ""] }) => redactor.redact(failure));
  };
  const secret = "theCanaryOfAToken123";
  const alone = "must be the token alone, without `Bearer ` in front of it";
  for (const token of [`Bearer sk_live_${secret}`, `Authorization: bearer  sk_test_${secret}`]) {
    expect(told(token)).toEqual([
      `compute:apiToken ${alone}`,
      `compute:apiToken (from COMPUTE_API_TOKEN) ${alone}`,
      expect.stringMatching(new RegExp(`\\(COMPUTE_API_TOKEN_FILE\\) .*: it ${alone}$`)),
    ]);
  }
  const start = expect.stringContaining("must start with sk_live_ or sk_test_");
  expect(told(`"sk_live_${secret}"`)).toEqual([start, start, start]);
});

test("of a token with `Bearer ` in front of it, the token alone is hidden, too (G8)", () => {
  const redactor = new Redactor();
  checkConfig(propertyMap({ apiToken: "Bearer sk_live_short1" }), { env: {}, redactor });
  expect(redactor.redact("sk_live_short1")).toBe("[secret]");
});

test("if COMPUTE_API_TOKEN and the file have different tokens, the error names both places, and no token", () => {
  const file = fileOf(fileToken);
  const env = { COMPUTE_API_TOKEN: "sk_test_otherCanary", COMPUTE_API_TOKEN_FILE: file };
  expect(() => resolve({}, env)).toThrow(
    `compute:apiToken can't be taken from the environment: COMPUTE_API_TOKEN and the file of COMPUTE_API_TOKEN_FILE (${file}) hold different tokens; unset one of the two variables`,
  );
  expect(resolve({}, { ...env, COMPUTE_API_TOKEN: fileToken })).toMatchObject({
    apiTokenFile: file,
  });
});

test("the path of the token's file may look like a token", () => {
  const path = join(temporaryFolder(), "sk_live_compute");
  writeFileSync(path, "sk_live_Canary1\n");
  const { failures: told } = checkConfig(
    propertyMap({ baseUrl: required.baseUrl }),
    source({ COMPUTE_API_TOKEN_FILE: path }),
  );
  expect(told).toEqual([]);
});

test.each([
  [
    "a file that does not exist",
    () => "/no/such/file",
    "the file /no/such/file (COMPUTE_API_TOKEN_FILE) does not exist",
  ],
  ["an empty file", () => fileOf(" \n"), "is empty"],
  ["a folder", () => temporaryFolder(), "is not a regular file"],
  ["a path that depends on the folder", () => "secrets/token", "must be the absolute path"],
  ["a wrong prefix", () => fileOf("pk_live_Canary"), "must start with sk_live_ or sk_test_"],
  ["two tokens", () => fileOf("sk_test_Canary1\nsk_test_Canary2"), "without spaces or line breaks"],
  [
    "a path below a file",
    () => join(fileOf("x"), "y"),
    process.platform === "win32" ? "does not exist" : "can't be read (ENOTDIR)",
  ],
  ["a token in quotes", () => '"sk_live_Canary"', "must be the absolute path"],
  ["a token without its prefix", () => "Canary", "must be the absolute path"],
  ["a long file", () => fileOf("Canary".repeat(9000)), "is too long"],
  ["a token in place of a path", () => "sk_live_Canary", "the token itself belongs in"],
])("%s is one clear error, which never shows what the file holds (G8, G9)", (_, make, why) => {
  const path = make();
  const { failures: told } = checkConfig(
    propertyMap({ baseUrl: required.baseUrl }),
    source({ COMPUTE_API_TOKEN_FILE: path }),
  );
  expect(told).toEqual([expect.stringContaining(why)]);
  expect(told[0]).toMatch(
    /^compute:apiToken can't be taken from the environment: .*COMPUTE_API_TOKEN_FILE/,
  );
  expect(told[0]).not.toContain("Canary");
});

test("after CheckConfig, the token is removed from messages, wherever it came from (G8)", () => {
  const env = { COMPUTE_API_TOKEN: "sk_test_envCanary", COMPUTE_API_TOKEN_FILE: fileOf(fileToken) };
  const redactor = new Redactor();
  checkConfig(propertyMap({}), { env, redactor });
  checkConfig(propertyMap({ apiToken: "sk_live_argCanary" }), { env, redactor });
  const shown = redactor.redact(`sk_live_argCanary sk_test_envCanary ${fileToken}`);
  expect(shown).toBe("[secret] [secret] [secret]");
});
