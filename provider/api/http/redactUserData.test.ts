/** Tests that an error message shows no part of the request's user data (G8). */
import { expect, test } from "@jest/globals";
import type { CreateBody } from "../contract";
import { redactUserData } from "./redactUserData";
import { createBody } from "../testing/testClient";

const script = [
  "#cloud-config",
  "hostname: acme-web-1",
  "image: debian-12-slim",
  "chpasswd: {list: 'root:Tr0ub4dor&3'}",
  "token: abcdef",
  "note: acme-web-1-hunter2",
].join("\n");

/** Returns the message after the redaction for a create with the script above. */
function redacted(message: string, more: Partial<CreateBody> = {}): string {
  const user_data = Buffer.from(script).toString("base64");
  const body = {
    ...createBody,
    name: "acme-web-1",
    image_id: "debian-12-slim",
    ...more,
    user_data,
  };
  return redactUserData(body, (text) => text)(message);
}

test("a part of a line is redacted, wherever the line was cut", () => {
  expect(redacted("bad value 'Tr0ub4dor&3' in user_data")).toBe("bad value '[secret] in user_data");
  expect(redacted("…sswd: {list: 'root:Tr0ub…")).toBe("…[secret]…");
  expect(redacted("near Tr0ub4***")).toBe("near [secret]***");
  expect(redacted("(token: abcdef)")).toBe("([secret])");
});

test("joined lines and parts of the Base64 are redacted", () => {
  const base64 = Buffer.from(script).toString("base64");
  expect(redacted(`sent ${script.replaceAll("\n", " ").slice(3, 200)}`)).toBe(
    "sent [secret] acme-web-1 [secret] debian-12-slim [secret]",
  );
  expect(redacted(`user_data ${base64.slice(7, 15)}... is no YAML`)).toBe(
    "user_data [secret]... is no YAML",
  );
});

test("a whole word of another field stays", () => {
  expect(redacted("image debian-12-slim not found")).toBe("image debian-12-slim not found");
  expect(redacted('no flavor for "debian-12-slim", "acme-web-1".')).toBe(
    'no flavor for "debian-12-slim", "acme-web-1".',
  );
  expect(redacted("acme-web-1-hunter2")).toBe("[secret]");
  expect(redacted("acme-web-1", { name: "other" })).toBe("[secret]");
});

test("shorter runs and other words stay", () => {
  expect(redacted("the token is too short, abcde")).toBe("the token is too short, abcde");
  expect(redacted("flavor_id is missing")).toBe("flavor_id is missing");
});

test("an earlier redaction mark stays as it is", () => {
  const user_data = Buffer.from("password: my-secret").toString("base64");
  const hide = redactUserData({ ...createBody, user_data }, (text) =>
    text.replace("token", "[secret]"),
  );
  expect(hide("token my-secret")).toBe("[secret] [secret]");
});

test("a script of 8 MB is searched too", () => {
  const noise = Buffer.from(Uint8Array.from({ length: 6_000_000 }, (_, n) => (n * 40_503) >>> 7));
  const long = Buffer.from(`password: 0123456789\n${noise.toString("base64")}`).toString("base64");
  const hide = redactUserData({ ...createBody, user_data: long }, (text) => text);
  expect(hide("see 0123456789 and !!xyzzy!!")).toBe("see [secret] and !!xyzzy!!");
});
