/** Tests of Check: input errors, secrets, and the name. */
import { createHash } from "node:crypto";
import { expect, test } from "@jest/globals";
import {
  Opaque,
  propertyMap,
  reveal,
  Secret,
  Unknown,
  type OpaqueKind,
  type PropertyMap,
  type PropertyValue,
} from "../pulumi/propertyValue";
import { wholeOf } from "../errors";
import type { AutonamingMode, CheckRequest } from "../pulumi/calls";
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
  return checkInstance(request, { scope: scope ?? undefined, isNameTaken: () => false });
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
  expect(check(news)).toEqual({ inputs: inputsOf(news), failures: [], findings: [] });
});

test("all errors are reported at once, and each names its input (G9)", () => {
  const scripts = { userData: "a", userDataBase64: new Secret("YQ==") };
  expect(
    failures({
      name: "",
      flavorId: true,
      imageId: undefined,
      vpcId: null,
      sshKeys: ["ok", ""],
      ...scripts,
    }),
  ).toEqual([
    "name must not be empty",
    "flavorId must be text, not true or false",
    "imageId is required",
    "vpcId is required",
    "sshKeys[1] must not be empty",
    expect.stringContaining("both given"),
  ]);
});

test.each([0, 65536, 22.5, NaN, "22", true])("%j is no port (G9)", (waitForPort) => {
  const { inputs, failures: found } = check({ waitForPort });
  expect(found).toEqual(["waitForPort must be a whole number from 1 to 65535"]);
  // No reply has room for it.
  expect(Object.values(inputs).some(Number.isNaN)).toBe(false);
});

test("a property that is no input is reported, with the input that was probably meant", () => {
  expect(failures({ flavor_id: "x" })).toEqual([
    'an Instance has no input "flavor_id"; did you mean flavorId?',
  ]);
  expect(failures({ region: "x" })[0]).toContain("(it has name, flavorId, imageId");
  expect(failures({ __defaults: [] })).toEqual([]);
});

test("an input that an import left empty, and the program too, says what to type where", () => {
  const imported = { olds: propertyMap({ name: "web" }) };
  expect(failures({ name: "web", flavorId: "", imageId: "", sshKeys: [""] }, imported)).toEqual([
    "sshKeys[0] must not be empty",
    expect.stringMatching(
      /^flavorId, imageId are empty, because an import .* In the program, set them to/,
    ),
  ]);
  expect(failures({ flavorId: "" }, { olds: inputsOf() })).toEqual(["flavorId must not be empty"]);
});

test("user data under a wrong name is not quoted (G8)", () => {
  for (const key of ["userdata", "user_data", "userDatabase64"]) {
    const reasons = failures({ [key]: "password: hunter2" });
    expect(reasons).toEqual([expect.stringContaining(`"${key}"; did you mean user`)]);
    expect(JSON.stringify(reasons)).not.toContain("hunter2");
  }
});

test("an invalid secret is not quoted (G8, G9)", () => {
  expect(failures({ userData: 5 })).toEqual([
    "userData is a number, and has to be text: put it in quotes",
  ]);
  const long = "é".repeat(1_000_001);
  expect(failures({ userData: long })).toEqual(["userData must not have more than 2000000 bytes"]);
  expect(failures({ userDataBase64: "canary!" })).toEqual([
    expect.stringMatching(/^userDataBase64 must be Base64/),
  ]);
  expect(failures({ flavorId: new Secret("") })).toEqual(["flavorId must not be empty"]);
});

const privateKey = "-----BEGIN PRIVATE KEY-----\nCanary\n-----END PRIVATE KEY-----";
test.each<[string, Values, string]>([
  ["as the name", { name: privateKey }, "name must not contain control characters"],
  ["in place of the list of keys", { sshKeys: privateKey }, "sshKeys must be a list, not one text"],
  ["among the keys", { sshKeys: ["a", privateKey] }, "sshKeys[1] is a private key"],
  ["inside a key", { sshKeys: [{ Canary: privateKey }] }, "sshKeys[0] must be text, not a map"],
  ["in a map", { flavorId: { key: privateKey } }, "flavorId must be text, not a map"],
  ["under a name that is no input", { sshPrivateKey: privateKey }, '"sshPrivateKey"'],
])(
  "a private key that was pasted %s is not quoted, in a create and in an import (G8)",
  (_, news, why) => {
    for (const olds of [propertyMap({}), inputsOf({ name: "web-old" })]) {
      expect(failures(news, { olds })).toEqual([expect.stringContaining(why)]);
      expect(JSON.stringify(failures(news, { olds }))).not.toContain("Canary");
    }
  },
);

// ── Ids and keys ────────────────────────────────────────────────────────────────────────────────

const ids = ["flavorId", "imageId", "vpcId", "sshKeys"] as const;
type Id = (typeof ids)[number];
const given = (name: Id, value: PropertyValue) => ({
  [name]: name === "sshKeys" ? [value] : value,
});
const titled = (name: Id) => (name === "sshKeys" ? "sshKeys[0]" : name);

const badIds: [value: string, why: string][] = [
  [" ", "must not be only white space"],
  ["id-1\n", "has white space around it, such as the line break at the end of a file"],
  ["\u00a0id-1", "has white space around it"],
  ["id\u200b-1", "characters that can't be seen"],
  ["id\n-1", "must not contain control"],
  ["id\u202e-1", "must not contain control"],
  ["id\u00ad-1", "must not contain control"],
];
test.each(ids.flatMap((name) => badIds.map((bad) => [name, ...bad] as const)))(
  "%s: an id that nobody means is refused (%j)",
  (name, value, why) => {
    const reasons = failures(given(name, value));
    expect(reasons).toEqual([expect.stringContaining(why)]);
    expect(JSON.stringify(reasons)).not.toContain("id-1");
  },
);

test.each(ids)("%s: whatever may be an id passes", (name) => {
  for (const value of [
    "1",
    "a b",
    "SHA256:abc/def+",
    "ab:cd:ef",
    "key/1",
    "schl\u00fcssel",
    "a.b_c",
  ]) {
    expect(failures(given(name, value))).toEqual([]);
  }
});

test.each(ids)("%s: a whole number is taken as its text, as a program in YAML gives it", (name) => {
  for (const value of [4711, new Secret(4711)]) {
    const { inputs, failures: found } = check(given(name, value));
    expect(found).toEqual([]);
    expect(reveal(inputs[name] ?? null)).toEqual(name === "sshKeys" ? ["4711"] : "4711");
    expect(inputs[name] instanceof Secret).toBe(name !== "sshKeys" && value instanceof Secret);
  }
  // Digits may be lost.
  for (const value of [2 ** 53, 1.5, 1e21]) {
    expect(failures(given(name, value))).toEqual([
      `${titled(name)} is a number, and has to be text: put it in quotes (from a YAML configuration: into a list, \`pulumi config set --path 'ids[0]' 22.04\`)`,
    ]);
  }
});

const blob = Buffer.concat([
  Buffer.from("AAAAC3NzaC1lZDI1NTE5AAAAIA==", "base64"),
  Buffer.from("canarycanarycanarycanarycanary00"),
]);
const publicText = `ssh-ed25519 ${blob.toString("base64")} me@canary`;
const fingerprint = `SHA256:${createHash("sha256").update(blob).digest("base64").replace(/=+$/, "")}`;
test.each([
  ["a public key", publicText, `Give its ID, or ${fingerprint}`],
  ["a public key from a file", `${publicText}\n`, fingerprint],
  ["a public key with options", `no-pty ${publicText}`, fingerprint],
  ["the Base64 of a public key", blob.toString("base64"), `Give its ID, or ${fingerprint}`],
  ["the Base64 of a key, with its comment", publicText.replace("ssh-ed25519 ", ""), fingerprint],
  [
    "the path of a public key",
    "~/.ssh/canary.pub",
    "is the path of a file. Give the ID of its key",
  ],
  ["the path of a private key", "/home/canary/.ssh/id_rsa", "is the path of a file"],
  ["a path in the folder of the program", "./keys/canary", "is the path of a file"],
  ["a path of Windows", "C:\\keys\\canary", "is the path of a file"],
  ["a private key of PuTTY", "PuTTY-User-Key-File-3: ssh-rsa\ncanary", "is a private key"],
])("%s in place of an SSH key's ID is refused, and not quoted (G8)", (_, key, why) => {
  for (const value of [key, new Secret(key)]) {
    const reasons = failures({ sshKeys: [value] });
    expect(reasons).toEqual([expect.stringContaining(why)]);
    expect(JSON.stringify(reasons)).not.toContain("canary");
  }
});

test.each([
  "SHA256:/nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY",
  "/nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY",
  "MD5:43:51:43:a1:b5:fc:8b:b7:0a:3a:a9:b1:0f:66:73:a8",
  "AAAA-1",
  "AAAA3Nz",
  "projects/web/keys/laptop",
  "id_ed25519",
])("%s may be an ID or a fingerprint", (key) => expect(failures({ sshKeys: [key] })).toEqual([]));

// ── Values that are no text ─────────────────────────────────────────────────────────────────────

test.each<[OpaqueKind, string]>([
  ["resource", "vpcId is a resource: give its id"],
  ["asset", "vpcId is an asset: give its text"],
  ["archive", "vpcId is an archive: give a text"],
])("a value that is a %s says what to give", (kind, reason) => {
  expect(failures({ vpcId: new Opaque(propertyMap({}), kind) })).toEqual([reason]);
});

test("no failure has a word of a library, or of our own types (G9)", () => {
  const opaque = (kind: OpaqueKind) => new Opaque(propertyMap({}), kind);
  const values = [true, 1.5, [], ["", 1.5, true, [], opaque("asset")], propertyMap({ a: 1 })];
  const inputs = ["name", ...ids, "userData", "userDataBase64", "waitForPort"];
  const reasons = [...values, opaque("resource"), opaque("newer")].flatMap((value) =>
    inputs.flatMap((name) => failures({ [name]: value })),
  );
  expect(reasons.length).toBeGreaterThan(40);
  const odd = /invalid|received|expected|string|array|object|opaque|boolean|undefined|NaN/i;
  expect(reasons.filter((reason) => odd.test(reason))).toEqual([]);
});

// ── A forgotten apply ───────────────────────────────────────────────────────────────────────────

/** Texts that the SDKs put in place of an Output's value, in a script or an id. */
const outputTexts = [
  ["TypeScript", "Calling [toString] on an [Output<T>] is not supported.\n\nTo get"],
  ["TypeScript", "Calling [toJSON] on an [Output<T>] is not supported."],
  ["Python", "Calling __str__ on an Output[T] is not supported.\n\nTo get"],
  [".NET", "Calling [ToString] on an [Output<T>] is not supported."],
  ["Java", "Calling 'toString' on an 'Output<T>' is not supported."],
  ["Go", "{0xc000137180}"],
  ["Go", "{0x13d20488ebd0}"],
  ["Go", "{OutputState:0x13d20488ebd0}"],
  ["Go", "{%!s(*internal.OutputState=&{0x13d2046acc00 <nil> 0})}"],
] as const;
const hasOutputText = "has the text of an Output in it, and not its value: use an apply";
test.each(outputTexts)("an Output as text (%s) is refused in every input: %j", (_, text) => {
  const script = `#!/bin/sh\necho ${text}\n`;
  const everywhere: Values[] = [
    { name: `web-${text}` },
    ...ids.map((name) => given(name, text)),
    { userData: new Secret(script) },
    { userDataBase64: Buffer.from(script).toString("base64") },
  ];
  for (const news of everywhere)
    expect(failures(news)).toEqual([expect.stringContaining(hasOutputText)]);
});

test.each([
  ["folded by a YAML writer", "Calling\n  [toString] on an\n  [Output<T>] is not\n  supported"],
  [
    "in JSON of Java",
    String.raw`Calling \u0027toString\u0027 on an \u0027Output\u003cT\u003e\u0027 is not supported`,
  ],
  ["in a URL", encodeURIComponent("Calling [toString] on an [Output<T>] is not supported")],
  ["in a name", "calling-tostring-on-an-output-t-is-not-supported"],
])("an Output as text is refused where it was written in another form: %s", (_, text) => {
  expect(failures({ userData: `#cloud-config\nruncmd: ["${text}"]` })).toEqual([
    expect.stringContaining(hasOutputText),
  ]);
});

test.each(["web-<nil>", "%!s(<nil>)", String.raw`{"a":"\u003cnil\u003e"}`, "q=%3Cnil%3E"])(
  "the text of a missing value in Go and YAML is refused: %s",
  (text) => {
    for (const news of [{ name: text }, { imageId: text }, { userData: `#!/bin/sh\n${text}` }]) {
      expect(failures(news)).toEqual([expect.stringContaining('has "<nil>" in it')]);
    }
  },
);

test("an Output in the name of a new resource is refused", () => {
  const text = "Calling [toString] on an [Output<T>] is not supported.\n\nTo get";
  const urn = urnOf(`web-${text}`);
  expect(failures({}, { urn })).toEqual([
    expect.stringContaining("the text of an Output in its own name"),
  ]);
  expect(failures({}, { urn, olds: inputsOf({ name: "web" }) })).toEqual([]);
});

test("a script may speak of outputs and of memory", () => {
  const userData = [
    "#!/bin/sh\n# Output<T>\n",
    "#!/bin/sh\ngrep 'Calling [toString] on an [Output<T>]' log",
    "a = {0xdeadbeef}",
    "x = {0xc0, 0x00}",
    "uint64_t mac = {0x001122334455}",
  ];
  for (const script of userData) expect(failures({ userData: script })).toEqual([]);
});

test("what the existing instance has is said, and stops no run, until it is replaced", () => {
  const [, text] = outputTexts[0];
  const news = {
    flavorId: "f-1\n",
    sshKeys: ["a", publicText],
    userDataBase64: Buffer.from(text).toString("base64"),
  };
  const olds = inputsOf({ ...news, userDataBase64: undefined, userData: new Secret(text) });
  const { failures: found, findings } = check(news, { olds });
  expect(found).toEqual([]);
  const lines = findings.flatMap(wholeOf);
  expect(lines).toEqual([
    expect.stringMatching(/^flavorId in the state has white space/),
    expect.stringMatching(/^sshKeys in the state is the text of a public key/),
    expect.stringMatching(/^userDataBase64 in the state has the text of an Output/),
  ]);
  expect(lines.filter((line) => line.length > 160)).toEqual([]);
  // The engine checks a replacement again without the old inputs.
  expect(failures(news)).toHaveLength(3);
  expect(failures({ ...news, sshKeys: [publicText, "b\n"] }, { olds })).toHaveLength(1);
});

test("each wrong item is looked for in the state in one step", () => {
  let steps = 0;
  const count = (list: string[], at: string | symbol): unknown => {
    steps += 1;
    return Reflect.get(list, at);
  };
  const stepsOfCheck = (items: number) => {
    const before = steps;
    const sshKeys = new Proxy(Array<string>(items).fill("old\n"), { get: count });
    const olds = inputsOf({ sshKeys });
    expect(failures({ sshKeys: Array<string>(items).fill("new\n") }, { olds })).toHaveLength(items);
    return steps - before;
  };
  expect(stepsOfCheck(200)).toBeLessThan(3 * stepsOfCheck(100));
});

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
test.each(badNames)("a name is refused (%#)", (name, why) => {
  const refused = [expect.stringContaining(`name ${why}`)];
  expect(failures({ name })).toEqual(refused);
  expect(failures({ name }, { olds: inputsOf({ name: "web-old" }) })).toEqual(refused);
  // The name in an import is the one that the service lists, and an existing instance keeps its name.
  for (const olds of [propertyMap({ name }), inputsOf({ name })])
    expect(check({ name }, { olds })).toMatchObject({ failures: [], findings: [] });
});

test.each(badNames)(
  "a name that pulumi:autonaming chooses is refused, too (%#)",
  (proposedName, why) => {
    const olds = inputsOf({ name: "web-old" });
    const refused = [expect.stringContaining(`the name that pulumi:autonaming chooses ${why}`)];
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
  " web",
  "web_main",
  "-web",
  "web.",
  "日本",
  "مرحبا",
  "a".repeat(64),
  `${"a.".repeat(126)}aa`,
  "\u200bx",
])("%j is no hostname of RFC 1123: a new name is warned of, and not refused", (name) => {
  const warned = [{ shared: [expect.stringContaining("(RFC 1123)")] }];
  expect(check({ name })).toMatchObject({ failures: [], findings: warned });
  expect(check({ name }, { olds: inputsOf() })).toMatchObject({ failures: [], findings: warned });
  expect(check({ name }, { olds: inputsOf({ name }) }).findings).toEqual([]);
});
test.each(["5", "WEB-1.Example.com", "a".repeat(63), `${"a.".repeat(126)}a`])(
  "%s is a hostname",
  (name) => expect(check({ name })).toMatchObject({ failures: [], findings: [] }),
);

test("a name that another resource has is warned of while it is new", () => {
  const request = { urn: urnOf("web"), news: inputsOf(), randomSeed: new Uint8Array() };
  const run = { scope: scopeId, isNameTaken: () => true };
  const findingsWith = (olds: PropertyMap) => checkInstance({ ...request, olds }, run).findings;
  const warned = [{ own: 'another resource has the name "web", too', shared: expect.anything() }];
  expect(findingsWith(propertyMap({}))).toEqual(warned);
  expect(findingsWith(inputsOf())).toEqual([]);
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
  expect(failures({ sshKeys: keys })).toEqual(["sshKeys[1] must not be empty"]);
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
  const reason = "name is required, because pulumi:autonaming is disabled for this resource";
  expect(found).toEqual([reason]);
  expect("name" in inputs).toBe(false);
});
