/** Tests for which user data there is a warning that cloud-init would ignore it. */
import { gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { Secret, Unknown, type PropertyValue } from "../propertyValue";
import { inputsOf } from "../testing/scene";
import { userDataWarning } from "./cloudInit";

type Values = Record<string, PropertyValue | undefined>;

/** A part of all the user data in these tests, which no warning may quote. */
const canary = "hunter2Canary";

async function warningOf(news: Values, olds: Values = {}): Promise<string | undefined> {
  const warning = await userDataWarning(inputsOf(news), inputsOf(olds));
  expect(warning ?? "").not.toContain(canary);
  return warning;
}
const base64 = (text: string | Buffer) => Buffer.from(text).toString("base64");
const cloudConfig = `#cloud-config
# A comment
password: &p ${canary}
users:
  - default
  - {name: deploy, ssh_authorized_keys: ["ssh-ed25519 AAAA"]}
users: [deploy]
write_files:
- path: /etc/motd
  content: |
    --- not a document: {
runcmd:
- [sh, -c, "echo ok"]
- 'echo "it''s"'
other: *p
`;

test.each([
  ["a cloud-config", cloudConfig],
  ["a cloud-config with Windows line endings", cloudConfig.replaceAll("\n", "\r\n")],
  ["a cloud-config with nothing in it", "#cloud-config\n"],
  ["a cloud-config with a document marker", `#cloud-config\n---\npassword: ${canary}\n`],
  ["white space before the header", ` \n${cloudConfig}`],
  ["a header in capitals", "#Cloud-Config\nhostname: web\n"],
  ["a shell script", `#!/bin/sh\necho ${canary}: [\n`],
  ["a Jinja template", `## template: jinja\n#cloud-config\n{% if x %}\nhostname: {{ y }}\n`],
  ["a MIME message", `Content-Type: multipart/mixed; boundary="B"\nMIME-Version: 1.0\n\n--B\n`],
  ["an include", "#include\nhttps://example.com/a\n"],
  ["an include-once", "#include-once\nhttps://example.com/a\n"],
  ["a boothook", "#cloud-boothook\n#!/bin/sh\n"],
  ["a part handler", "#part-handler\ndef list_types(): pass\n"],
  ["an archive, which is a list", "#cloud-config-archive\n- type: text/cloud-config\n"],
  ["an upstart job", "#upstart-job\ndescription x\n"],
  ["nothing", ""],
])("there is no warning of %s, as plain text or Base64", async (_, text) => {
  expect(await warningOf({ userData: text })).toBeUndefined();
  expect(await warningOf({ userDataBase64: new Secret(base64(text)) })).toBeUndefined();
});

test("compressed user data (gzip) gets no warning", async () => {
  expect(await warningOf({ userDataBase64: base64(gzipSync("anything")) })).toBeUndefined();
});

test.each([
  ["no header", `hostname: ${canary}\n`, "does not begin with a header that cloud-init knows"],
  ["a header with a space in it", `# cloud-config\nx: ${canary}\n`, "does not begin with a header"],
  [
    "text before the header",
    `# ${canary}\n#cloud-config\n`,
    "#cloud-config is not at its beginning",
  ],
  ["a marker before the header", `---\n#cloud-config\nx: ${canary}\n`, 'it begins with "---"'],
  ["a byte order mark", `\ufeff${cloudConfig}`, "it begins with a byte order mark"],
  ["a tab as indentation", `#cloud-config\nusers:\n\t- ${canary}\n`, "not valid YAML (line 3)"],
  ["two colons", `#cloud-config\n\nhostname: web: ${canary}\n`, "not valid YAML (line 3)"],
  ["a list", `#cloud-config\n- ${canary}\n`, "its YAML is not a mapping"],
  ["two documents", `#cloud-config\na: ${canary}\n---\nb: 2\n`, "not valid YAML (line"],
  ["binary data", `\u0000\u0001${canary}`, "does not begin with a header"],
])("user data with %s gets a warning that does not quote it (G8)", async (_, text, why) => {
  expect(await warningOf({ userData: new Secret(text) })).toContain(
    `cloud-init would ignore userData: `,
  );
  expect(await warningOf({ userData: text })).toContain(why);
  expect(await warningOf({ userDataBase64: base64(text) })).toContain(why);
});

test("Base64 that was given as plain text, or encoded twice, is distinguished from other user data", async () => {
  const once = base64(cloudConfig);
  expect(await warningOf({ userData: once })).toContain("Give it as userDataBase64");
  expect(await warningOf({ userDataBase64: base64(once) })).toContain("Base64 twice");
  const wrapped = once.replace(/.{76}/g, "$&\n");
  expect(await warningOf({ userData: `${wrapped}\n` })).toContain("Give it as userDataBase64");
  expect(await warningOf({ userData: base64(gzipSync(canary)) })).toContain("userDataBase64");
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

test.each([
  'content: "-----BEGIN KEY-----\nabc\n-----END KEY-----"\n',
  "runcmd: [\nls,\n foo\n]\n",
  "- {name: a,\n  sudo: b}\n".replace("- ", "users:\n- "),
  "a: [b,#c\n]\n",
  "a: b\u0085c: d\n",
])("a cloud-config that only this parser refuses gets no warning: %j", async (text) => {
  expect(await warningOf({ userData: `#cloud-config\n${text}` })).toBeUndefined();
});

test.each(["null\n", "~\n"])("a cloud-config without keys gets no warning: %j", async (text) => {
  expect(await warningOf({ userData: `#cloud-config\n${text}` })).toBeUndefined();
});

test("user data with long runs of white space is judged without delay", async () => {
  const text = `${"a \n".repeat(300_000)}!`;
  expect(await warningOf({ userData: text })).toContain("does not begin with a header");
});

test("a cloud-config that is too large or too deep for the parser is not judged", async () => {
  const large = `#cloud-config\nx: "${"a".repeat(70_000)}\n`;
  expect(await warningOf({ userData: large })).toBeUndefined();
  const deep = `#cloud-config\nx: ${"[".repeat(30_000)}${"]".repeat(30_000)}\n`;
  expect(await warningOf({ userData: deep })).toBeUndefined();
});
