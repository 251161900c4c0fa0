/** Tests of Check: input errors, secrets, and the name. */
import { expect, test } from "@jest/globals";
import { propertyMap, reveal, Secret, Unknown, type PropertyValue } from "../propertyValue";
import type { AutonamingMode, CheckRequest } from "../requests";
import { inputsOf, scopeId, urnOf } from "../testing/scene";
import { checkInstance } from "./check";
import { nameKind } from "./naming";

type Values = Record<string, PropertyValue | undefined>;

function check(news: Values, more: Partial<CheckRequest> = {}, scope: string | null = scopeId) {
  const request = {
    urn: urnOf("web"),
    olds: propertyMap({}),
    news: inputsOf(news),
    randomSeed: new Uint8Array([1, 2, 3]),
    ...more,
  };
  return checkInstance(request, scope ?? undefined);
}
const failures = (news: Values, more?: Partial<CheckRequest>) => check(news, more).failures;

const nameless = { name: undefined };
const nameOf = (more: Partial<CheckRequest> = {}, news: Values = nameless) =>
  reveal(check(news, more).inputs["name"] ?? null);
const named = (name: string, key: string) => propertyMap({ name, [key]: name });
const autonaming = (mode: AutonamingMode, proposedName = "p") => ({
  autonaming: { mode, proposedName },
});

test("valid inputs pass unchanged", () => {
  const news = { sshKeys: ["a", "b"], waitForPort: 65535 };
  expect(check(news)).toEqual({ inputs: inputsOf(news), failures: [] });
});

test("all errors are reported at once, and each names its property (G9)", () => {
  const scripts = { userData: "a", userDataBase64: new Secret("YQ==") };
  expect(
    failures({
      name: "",
      flavorId: 5,
      imageId: undefined,
      vpcId: null,
      sshKeys: ["ok", ""],
      ...scripts,
    }),
  ).toEqual([
    { property: "name", reason: "must not be empty" },
    { property: "", reason: "flavorId expected string, received number" },
    { property: "imageId", reason: "is required" },
    { property: "vpcId", reason: "is required" },
    { property: "", reason: "sshKeys[1] must not be empty" },
    { property: "", reason: expect.stringContaining("both given") },
  ]);
});

test.each([0, 65536, 22.5, "22", true])("%j is no port (G9)", (waitForPort) => {
  expect(failures({ waitForPort })).toEqual([
    { property: "", reason: "waitForPort must be a whole number from 1 to 65535" },
  ]);
});

test("a property that is no input is reported, with the input that was probably meant", () => {
  expect(failures({ flavor_id: "x" })).toEqual([
    {
      property: "",
      reason: 'an Instance has no input "flavor_id"; did you mean flavorId?',
    },
  ]);
  expect(failures({ region: "x" })[0]?.reason).toContain("(it has name, flavorId, imageId");
  expect(failures({ __defaults: [] })).toEqual([]);
});

test("an input that an import left empty, and the program too, says what to type where", () => {
  const imported = { olds: propertyMap({ name: "web" }) };
  expect(failures({ name: "web", flavorId: "", sshKeys: [""] }, imported)).toEqual([
    {
      property: "flavorId",
      reason: expect.stringMatching(
        /^is empty, because an import .* In the program, set flavorId to/,
      ),
    },
    { property: "", reason: "sshKeys[0] must not be empty" },
  ]);
  expect(failures({ flavorId: "" }, { olds: inputsOf() })).toEqual([
    { property: "flavorId", reason: "must not be empty" },
  ]);
});

test("user data under a wrong name is not printed by the engine (G8)", () => {
  for (const key of ["userdata", "user_data", "userDatabase64"]) {
    const [failure] = failures({ [key]: "password: hunter2" });
    expect(failure).toEqual({
      property: "",
      reason: expect.stringContaining(`"${key}"; did you mean user`),
    });
  }
  expect(failures({ anything: new Secret("x") })[0]?.property).toBe("");
});

test("an invalid secret is named only in the reason (G8, G9)", () => {
  expect(failures({ userData: 5 })).toEqual([
    { property: "", reason: "userData expected string, received number" },
  ]);
  expect(failures({ userDataBase64: "canary!" })).toEqual([
    { property: "", reason: expect.stringMatching(/^userDataBase64 must be Base64/) },
  ]);
  expect(failures({ flavorId: new Secret("") })).toEqual([
    { property: "", reason: "flavorId must not be empty" },
  ]);
});

const privateKey = "-----BEGIN PRIVATE KEY-----\nCanary\n-----END PRIVATE KEY-----";
test.each<[string, Values, string]>([
  ["as the name", { name: privateKey }, "name must not contain control characters"],
  ["in place of the list of keys", { sshKeys: privateKey }, "sshKeys expected array"],
  ["beside an empty key", { sshKeys: [privateKey, ""] }, "sshKeys[1] must not be empty"],
  ["inside a key", { sshKeys: [{ Canary: privateKey }] }, "sshKeys[0] expected string"],
  ["in a map", { flavorId: { key: privateKey } }, "flavorId expected string"],
  ["under a name that is no input", { sshPrivateKey: privateKey }, '"sshPrivateKey"'],
])(
  "a private key that was pasted %s is neither quoted nor printed by the engine, in a create and in an import (G8)",
  (_, news, why) => {
    for (const olds of [propertyMap({}), inputsOf({ name: "web-old" })]) {
      expect(failures(news, { olds })).toEqual([
        { property: "", reason: expect.stringContaining(why) },
      ]);
      expect(JSON.stringify(failures(news, { olds }))).not.toContain("Canary");
    }
  },
);

const control = "must not contain control characters";
/** Names that are no hostname, with the reason why. */
const badNames: [name: string, why: string][] = [
  ["", "must not be empty"],
  [" \t\u00a0\u3000", "must not be only white space"],
  ["\n", "must not be only white space"],
  ["web\n", control],
  ["web\tone", control],
  ["web\u001b[31m", control],
  ["web\u007f", control],
  ["web\u0085", control],
  ["web\u2028", control],
  ["web\u202egnp", control],
  ["web\u200f", control],
  ["web\u2066x\u2069", control],
  ["\u061cweb", control],
];
test.each(badNames)("a name is refused (%#), and not printed by the engine", (name, why) => {
  const isBlank = name.trim() === "";
  const reason = isBlank ? why : `name ${why}`;
  const refused = [{ property: isBlank ? "name" : "", reason: expect.stringContaining(reason) }];
  expect(failures({ name })).toEqual(refused);
  expect(failures({ name }, { olds: inputsOf({ name: "web-old" }) })).toEqual(refused);
  // The name in an import is the one that the service lists, and an existing instance keeps its name.
  expect(failures({ name }, { olds: propertyMap({ name }) })).toEqual([]);
  expect(failures({ name }, { olds: inputsOf({ name }) })).toEqual([]);
});

test.each(badNames)(
  "a name that pulumi:autonaming chooses is refused, too (%#)",
  (proposedName, why) => {
    const olds = inputsOf({ name: "web-old" });
    const reason = expect.stringContaining(`the name that pulumi:autonaming chooses ${why}`);
    const refused = [{ property: "name", reason }];
    const proposed = autonaming("propose", proposedName);
    const enforced = autonaming("enforce", proposedName);
    expect(failures(nameless, proposed)).toEqual(refused);
    expect(failures(nameless, { olds, ...enforced })).toEqual(refused);
    // These keep the name.
    expect(failures(nameless, { olds, ...proposed })).toEqual([]);
    const kept = propertyMap({ ...inputsOf(), ...named(proposedName, "__proposed") });
    expect(failures(nameless, { olds: kept, ...enforced })).toEqual([]);
    expect(failures(nameless, { olds: kept, ...proposed })).toEqual([]);
  },
);

test.each([
  "Web Main",
  "web_main",
  "-web",
  "web.",
  "日本",
  "مرحبا",
  "a".repeat(300),
  "\u200bx",
  "5",
])("%s may be a hostname, since the service's limits are not known", (name) => {
  expect(failures({ name })).toEqual([]);
});

test("user data becomes a secret even if the program did not make it one (G8)", () => {
  for (const value of ["x", new Secret("x")]) {
    expect(check({ userData: value }).inputs["userData"]).toEqual(new Secret("x"));
  }
  expect(check({ userDataBase64: Unknown.value }).inputs["userDataBase64"]).toBeInstanceOf(Secret);
});

test.each(["YQ==", "YWI=", "YWJj", "", "YWJj\nYWJj\n"])("%j is Base64", (value) => {
  expect(failures({ userDataBase64: value })).toEqual([]);
});
test.each(["YQ", "Y===", "YWJj-_==", "ä", "=YWJ"])("%j is not Base64", (value) => {
  expect(failures({ userDataBase64: value })).toHaveLength(1);
});

test("an unknown value is no error, even in lists and secrets (G10)", () => {
  for (const unknown of [Unknown.value, new Secret(Unknown.value)]) {
    for (const name of ["name", "flavorId", "sshKeys", "userData", "userDataBase64"]) {
      expect(failures({ [name]: unknown })).toEqual([]);
    }
    expect(failures({ userData: "a", userDataBase64: unknown })).toEqual([]);
  }
  const keys = [Unknown.value, ""];
  expect(failures({ sshKeys: keys })).toEqual([
    { property: "", reason: "sshKeys[1] must not be empty" },
  ]);
  expect(check({ sshKeys: [Unknown.value, "b"] }).inputs["sshKeys"]).toEqual([Unknown.value, "b"]);
});

test("an input that an import could not read is no error, but one that a program left out is", () => {
  const news = { flavorId: undefined, imageId: undefined, vpcId: undefined };
  expect(failures(news, { olds: propertyMap({ name: "web" }) })).toEqual([]);
  expect(failures(news, { olds: inputsOf() })).toHaveLength(3);
  expect(failures(news)).toHaveLength(3);
});

test("a missing name is generated from the resource's name, its tag and the engine's seed, and marked as generated", () => {
  const { inputs } = check(nameless);
  expect(inputs["name"]).toMatch(/^web-[a-z2-7]{8}$/);
  expect(inputs["__generated"]).toBe(inputs["name"]);
  expect(nameOf({}, { name: null })).toBe(nameOf());
  expect(nameOf({ randomSeed: new Uint8Array([9]) })).not.toBe(nameOf());
});

test("in the first preview of a new stack, whose provider resource has no id yet, neither the name nor its mark is known", () => {
  const inputsIn = (news: Values) => check(news, {}, null).inputs;
  const unknown = { name: Unknown.value, __generated: Unknown.value };
  expect(inputsIn(nameless)).toEqual({ ...inputsOf(nameless), ...unknown });
  expect(inputsIn({ name: "mine" })).toEqual(inputsOf({ name: "mine" }));
  expect(nameKind(inputsIn(nameless))).toBe("explicit");
});

test("the preview and the run give an instance the same inputs, apart from those that the preview does not know (`pulumi up --plan`)", () => {
  const olds = inputsOf({ name: "web-old" });
  for (const more of [{}, { olds }, autonaming("propose"), autonaming("enforce")]) {
    for (const scope of [scopeId, null]) {
      const planned = check(nameless, more, scope).inputs;
      const run = check(nameless, more).inputs;
      expect(Object.keys(planned)).toEqual(Object.keys(run));
      const known = Object.entries(planned).filter(([, value]) => !(value instanceof Unknown));
      expect(run).toMatchObject(Object.fromEntries(known));
    }
  }
});

test.each(["__generated", "__proposed"])(
  "an instance keeps its name, and the mark %s of who chose it",
  (key) => {
    const olds = propertyMap({ ...inputsOf(), ...named("web-old", key) });
    expect(check(nameless, { olds }).inputs).toMatchObject(named("web-old", key));
    // A name that the program gives is never marked, even if the program gives the mark.
    const given = check({ name: "web-old", [key]: "web-old" }, { olds }).inputs;
    expect(given).toEqual(inputsOf({ name: "web-old" }));
  },
);

test("an instance whose name the program gave before keeps it without a mark", () => {
  const olds = inputsOf({ name: "web-old" });
  expect(check(nameless, { olds, ...autonaming("propose") }).inputs).toEqual(olds);
});

test("autonaming: a proposed name is used and marked, and an enforced name replaces an existing one", () => {
  expect(check(nameless, autonaming("propose")).inputs).toMatchObject(named("p", "__proposed"));
  const enforce = { olds: inputsOf({ name: "web-old" }), ...autonaming("enforce", "e") };
  expect(check(nameless, enforce).inputs).toMatchObject(named("e", "__proposed"));
});

test.each<AutonamingMode>(["propose", "enforce", "disable"])(
  "a name that the program gives wins over the autonaming %s",
  (mode) => {
    const { inputs, failures: found } = check({ name: "mine" }, autonaming(mode));
    expect([inputs["name"], found]).toEqual(["mine", []]);
  },
);

test("autonaming disabled: the name is required", () => {
  const { inputs, failures: found } = check(nameless, autonaming("disable", ""));
  const reason = expect.stringContaining("is required, because pulumi:autonaming is disabled");
  expect(found).toEqual([{ property: "name", reason }]);
  expect("name" in inputs).toBe(false);
});
