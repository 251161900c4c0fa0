/**
 * Tests unusual Unicode strings as inputs, except names and ids that Check refuses. The service gets them unchanged, and the
 * next run sees no change. Messages have none of their control characters (G8).
 */
import { expect, test } from "@jest/globals";
import { Secret } from "../../provider/pulumi/propertyValue";
import { inputs, type Program } from "./support/stack";
import { withWorld, type World } from "./support/world";

/** A rate limit so high that no test waits for it. */
const quick = { pollIntervalSeconds: 0.01, requestsPerMinute: 1_000_000 };
const service = { requestsPerMinute: 1_000_000 };

/** Strings that often cause bugs: control characters, odd Unicode, names of JavaScript properties, and quoting. */
const texts = [
  ...["\0", "a\0b", "a\nb", "a\r\nb", "\t", " ", " a ", "\u0085", "\u2028", "\ufeff", "\u001b[2J"],
  ...["\u202egnp.exe", "שלום", "e\u0301", "é", "\u1100\u1161\u11a8", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯", "ß", "İ", "ǅ", "ﬀ"],
  ...["👩‍👩‍👧‍👦", "🇺🇳", "1️⃣", "\u{10ffff}", "\u{e0001}", "\u{2f800}", "\ufffe", "\uffff", "\ue000"],
  ...["constructor", "toString", "hasOwnProperty", "prototype", "null", "undefined"],
  ...["<id>", "{id}", "%s%n", "$(id)", "`id`", "'", '"', "\\", "/", "..", "../../account", "*"],
];

/** Whether Check lets the text be a hostname. */
const mayBeName = (text: string) => !/^\s*$|\p{Cc}|[\u2028\u2029]|\p{Bidi_Control}/u.test(text);

/** Whether Check lets the text be an id. */
const mayBeId = (text: string) => text.trim() === text && !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text);
const idOf = (text: string) => (mayBeId(text) ? text : "id-1");
/** The same for a key, which is no path. */
const keyOf = (text: string) => (/^[./\\]/.test(text) ? "key-1" : idOf(text));

/** Runs up, refresh, and up again, and expects that only the first one changes anything. */
async function expectStable(world: World, program: Program): Promise<void> {
  const { stack } = world;
  const plugin = await world.plugin(quick);
  const done = (what: string) => Object.keys(program).map((name) => `${what} ${name}`);
  expect((await stack.up(plugin, program)).failed).toEqual({});
  world.expectAllHeld();
  expect((await stack.refresh(plugin)).did.sort()).toEqual(done("read").sort());
  expect((await stack.up(plugin, program)).did.sort()).toEqual(done("same").sort());
  for (const { message } of plugin.logged) {
    expect(message).not.toMatch(/[^\P{Cc}\n\t]|[\u2028\u2029]|\p{Bidi_Control}|\p{Cs}/u);
  }
}

test("unusual strings as inputs and as resource names reach the service unchanged (no control characters as names or ids), and refresh and a second up change nothing", async () => {
  await withWorld(service, async (world) => {
    const program = Object.fromEntries(
      texts.map((odd) => [
        odd,
        inputs({
          name: mayBeName(odd) ? odd : undefined,
          imageId: idOf(odd),
          sshKeys: [keyOf(odd)],
          userData: new Secret(odd),
        }),
      ]),
    );
    await expectStable(world, program);
    for (const odd of texts) {
      const { id, outputs } = world.stack.held(odd);
      const request = world.service.control.instance(id)?.request;
      const name: unknown = mayBeName(odd)
        ? odd
        : expect.stringMatching(/^[a-z0-9-]+-[a-z2-7]{8}$/);
      expect(request).toMatchObject({ name, image_id: idOf(odd), ssh_keys: [keyOf(odd)] });
      expect(Buffer.from(request?.user_data ?? "", "base64").toString()).toBe(odd);
      expect(outputs).toMatchObject({ name, status: "ACTIVE" });
    }
  });
});

const megabyte = 2 ** 20;
const bytes = Buffer.from(Array.from({ length: megabyte }, (_, n) => (n * 7919) % 251));
const lines = "😀 a long enough line\n".repeat(megabyte / 24);

test("a megabyte of user data, as lines or as Base64, reaches the service unchanged, and the next run sees no change", async () => {
  await withWorld(service, async (world) => {
    const program = {
      lines: inputs({ userData: new Secret(lines) }),
      bytes: inputs({ userDataBase64: new Secret(bytes.toString("base64")) }),
    };
    await expectStable(world, program);
    for (const [name, sent] of Object.entries({ lines: Buffer.from(lines), bytes })) {
      const { id } = world.stack.held(name);
      const { user_data = "" } = world.service.control.instance(id)?.request ?? {};
      expect(Buffer.from(user_data, "base64").equals(sent)).toBe(true);
    }
  });
});
