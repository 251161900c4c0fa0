/** Tests of the warnings that cloud-init would ignore user data. */
import { gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { wholeOf } from "../errors";
import { Secret, Unknown, type PropertyValue } from "../pulumi/propertyValue";
import { inputsOf } from "../testing/scene";
import { userDataWarning } from "../instance/userData";

type Values = Record<string, PropertyValue | undefined>;

/** A part of all the user data in these tests, which no warning may quote. */
const canary = "hunter2Canary";

async function warningOf(news: Values, olds: Values = {}): Promise<string | undefined> {
  const warning = await userDataWarning(inputsOf(news), inputsOf(olds));
  const text = warning && wholeOf(warning).join(" ");
  expect(text ?? "").not.toContain(canary);
  return text;
}
const base64 = (text: string | Buffer) => Buffer.from(text).toString("base64");
const cloudConfig = `#cloud-config
password: ${canary}
users: [deploy]
`;

test.each([
  ["a cloud-config", cloudConfig],
  ["a shell script", `#!/bin/sh\necho ${canary}: [\n`],
  ["nothing", ""],
])("there is no warning of %s, as plain text or Base64", async (_, text) => {
  expect(await warningOf({ userData: text })).toBeUndefined();
  expect(await warningOf({ userDataBase64: new Secret(base64(text)) })).toBeUndefined();
});

// tests/userData/corpus.test.ts has the other kinds, and shows that cloud-init agrees.
test.each([
  ["no header", `hostname: ${canary}\n`, "does not begin with a header that cloud-init knows"],
  ["text before the header", `# ${canary}\n#cloud-config\n`, "text is before its header"],
  ["an empty line before #!", `\n#!/bin/sh\n${canary}\n`, "an empty line is before its first line"],
  ["a byte order mark", `\ufeff${cloudConfig}`, "it begins with a byte order mark"],
  ["a tab", `#cloud-config\nusers:\n- \t${canary}\n`, "a tab is where YAML allows none (line 3)"],
  ["two colons", `#cloud-config\n\nhostname: web: ${canary}\n`, "not valid YAML (line 3)"],
  [
    "{{ }}",
    `#cloud-config\n\nhostname: {{ ${canary} }}\n`,
    "not valid YAML (line 3). Text in {{ }}",
  ],
  ["a list", `#cloud-config\n- ${canary}\n`, "its YAML is not a mapping"],
  ["a key", `#cloud-config\n${canary}: 1\n`, "a part of userData"],
])("user data with %s gets a warning that does not quote it (G8)", async (_, text, why) => {
  const warning = await warningOf({ userData: new Secret(text) });
  expect(warning).toContain(`cloud-init would ignore `);
  expect(warning).toContain(why);
  expect(await warningOf({ userDataBase64: base64(text) })).toBe(
    warning?.replace("userData:", "userDataBase64:"),
  );
});

test.each([
  ["package: [nginx]\n", "the top-level key in line 2. Line 2: did you mean packages?"],
  [
    'hostname: web\nrun_cmd: []\nnothing-like-it: 1\n"write-files": []\n',
    "the top-level keys in lines 3, 4, 5. Line 3: did you mean runcmd? Line 5: did you mean write_files?",
  ],
  ["{hostname: web,\n packages_: []}\n", "the top-level key in line 3. Line 3: did you mean"],
])("the warning of unknown keys has their lines, and what was meant: %j", async (text, why) => {
  expect(await warningOf({ userData: `#cloud-config\n${text}` })).toContain(why);
});

test("of several problems, a warning has the first three", async () => {
  const part = (type: string, content: string) => `- type: ${type}\n  content: "${content}"\n`;
  const [unknown, list, command] = ["hostnam: web", "runcmd: ls", "bootcmd: [{echo a: b}]"];
  const two = await warningOf({ userData: `#cloud-config\n${unknown}\n${list}\n` });
  expect(two).toMatch(/top-level key in line 2\. .* runcmd, which begins in line 3, is no list/);
  const parts = [part("text/x-shellscript", "ls"), part("text/odd", "x")];
  const configs = [unknown, command].map((text) => part("text/cloud-config", text));
  const archive = `#cloud-config-archive\n${[...parts, ...configs].join("")}`;
  const three = wholeOf((await userDataWarning(inputsOf({ userData: archive }), inputsOf())) ?? []);
  const problems = three.filter((line) => line.startsWith("cloud-init would ignore a part of"));
  expect(problems).toEqual(
    [1, 2, 3].map((number) => expect.stringContaining(`: in part ${number}, `)),
  );
  expect(three.at(-1)).toMatch(/[.?] Ignore this warning if/);
  expect(three).toHaveLength(6);
});

test("what cloud-init replaces without a word is named by its parts or lines, with the line that keeps both", async () => {
  const config = (text: string) => `- |\n  #cloud-config\n  ${text.replace(/\n/g, "\n  ")}\n`;
  const archive = (...texts: string[]) => `#cloud-config-archive\n${texts.map(config).join("")}`;
  const parts = ["runcmd: [ls]\npackages: [a]", "hostname: web", "packages: [b]\nruncmd: [ls]"];
  const warning = await warningOf({ userData: archive(...parts) });
  const line = "merge_how: list(append)+dict(recurse_list,recurse_str)+str()";
  expect(warning).toContain(
    `a part of userData: part 3 replaces packages, runcmd of part 1. To keep both, add the line \`${line}\` to part 3.`,
  );
  const [first = "", ...later] = parts;
  const merged = later.map((part) => `${line}\n${part}`);
  expect(await warningOf({ userData: archive(first, ...merged) })).toBeUndefined();
  const twice = `#cloud-config\nruncmd:\n- ls\n${canary}: 1\n"runcmd": [${canary}]\n`;
  expect(await warningOf({ userData: twice })).toContain(
    "line 5 repeats the key in line 2, whose value is lost. Put both values below one key.",
  );
});

test("Base64 that was given as plain text, or encoded twice, is distinguished from other user data", async () => {
  const once = base64(cloudConfig);
  const why = "cloud-init would get it in Base64";
  expect(await warningOf({ userData: once })).toContain(why);
  expect(await warningOf({ userDataBase64: base64(once) })).toContain(why);
  const wrapped = once.replace(/.{76}/g, "$&\n");
  expect(await warningOf({ userData: `${wrapped}\n` })).toContain(why);
  expect(await warningOf({ userData: base64(gzipSync(canary)) })).toContain(why);
});

test("user data that is not known yet, or that the instance was created with, is not judged (G10)", async () => {
  expect(await warningOf({ userData: Unknown.value })).toBeUndefined();
  expect(await warningOf({ userData: new Secret(Unknown.value) })).toBeUndefined();
  expect(await warningOf({})).toBeUndefined();
  const text = `hostname: ${canary}`;
  expect(await warningOf({ userData: text }, { userData: new Secret(text) })).toBeUndefined();
  expect(await warningOf({ userData: text }, { userDataBase64: base64(text) })).toBeUndefined();
  expect(await warningOf({ userData: text }, { userData: "#!/bin/sh" })).toBeDefined();
});

test("user data with long runs of white space is judged without delay", async () => {
  const text = `${"a \n".repeat(150_000)}!`;
  expect(await warningOf({ userData: text })).toContain("does not begin with a header");
});

test("half a megabyte of YAML is judged, and no more, and what is nested too deeply does no harm", async () => {
  const large = `#cloud-config\npackages:\n${"- nginx\n".repeat(60_000)}hostname: web: 1\n`;
  expect(await warningOf({ userData: large })).toContain("not valid YAML (line 60003)");
  expect(await warningOf({ userData: large.repeat(2) })).toBeUndefined();
  const keys = Array.from({ length: 30_000 }, (_, n) => `key-${n}: 1\n`).join("");
  const many = await warningOf({ userData: `#cloud-config\n${keys}` });
  expect(many).toContain("the top-level keys in lines 2, 3, 4, 5, 6, …");
  const deep = `#cloud-config\nx: ${"[".repeat(30_000)}${"]".repeat(30_000)}\n`;
  expect(await warningOf({ userData: deep })).toContain("not valid YAML");
});

test("messages in messages are taken apart no deeper than it takes, and never fail a Check", async () => {
  const nested = (depth: number): string =>
    depth === 0
      ? "Content-Type: text/x-shellscript\n\necho\n"
      : `Content-Type: multipart/mixed; boundary=b${depth}\n\n--b${depth}\n${nested(depth - 1)}`;
  const message = `MIME-Version: 1.0\n${nested(3_000)}`;
  expect(await warningOf({ userData: message })).toContain("no part with text");
});

test("gzip is looked into, unless it unpacks to too much", async () => {
  const packed = (text: string) => base64(gzipSync(text));
  expect(await warningOf({ userDataBase64: packed(canary) })).toContain("does not begin with");
  const bomb = packed(" ".repeat(5 << 20));
  expect(await warningOf({ userDataBase64: bomb })).toBeUndefined();
});
