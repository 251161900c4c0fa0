/**
 * Names and user data that hold anything Unicode has: what goes to the service is what the program says,
 * byte by byte, and the next run sees no change. No message gets a line or a control character of theirs (G8).
 */
import { expect, test } from "@jest/globals";
import { Secret } from "../../provider/propertyValue";
import { printable } from "../../provider/redaction";
import { inputs, type Program } from "./support/stack";
import { withWorld, type World } from "./support/world";

/** No wait of a test is for the rate limit. */
const quick = { pollIntervalSeconds: 0.01, requestsPerMinute: 1_000_000 };
const service = { requestsPerMinute: 1_000_000 };

/** One text of each thing that has gone wrong somewhere. */
const texts = [
  ...["\0", "a\0b", "a\nb", "a\r\nb", "\t", " ", " a ", "\u0085", "\u2028", "\ufeff", "\u001b[2J"],
  ...["\u202egnp.exe", "שלום", "e\u0301", "é", "\u1100\u1161\u11a8", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯", "ß", "İ", "ǅ", "ﬀ"],
  ...["👩‍👩‍👧‍👦", "🇺🇳", "1️⃣", "\u{10ffff}", "\u{e0001}", "\u{2f800}", "\ufffe", "\uffff", "\ue000"],
  ...["constructor", "toString", "hasOwnProperty", "prototype", "null", "undefined"],
  ...["<id>", "{id}", "%s%n", "$(id)", "`id`", "'", '"', "\\", "/", "..", "../../account", "*"],
];

/** Up, refresh, and up once more: made as asked for, and nothing changes after that. */
async function expectMade(world: World, program: Program): Promise<void> {
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

test("odd texts go to the service as they are, under odd names, and two runs after it show no change", async () => {
  await withWorld(service, async (world) => {
    const program = Object.fromEntries(
      texts.map((odd) => [
        odd,
        inputs({ name: odd, imageId: odd, sshKeys: [odd], userData: new Secret(odd) }),
      ]),
    );
    await expectMade(world, program);
    for (const odd of texts) {
      const { id, outputs } = world.stack.held(odd);
      const request = world.service.control.instance(id)?.request;
      expect(request).toMatchObject({ name: odd, image_id: odd, ssh_keys: [odd] });
      expect(Buffer.from(request?.user_data ?? "", "base64").toString()).toBe(odd);
      // As the list shows it, without what a terminal would obey.
      expect(outputs).toMatchObject({ name: printable(odd), status: "ACTIVE" });
    }
  });
});

const megabyte = 2 ** 20;
const bytes = Buffer.from(Array.from({ length: megabyte }, (_, n) => (n * 7919) % 251));
const lines = "😀 a long enough line\n".repeat(megabyte / 24);

test("a megabyte of lines, or of any bytes in Base64, arrives as it is, and stays", async () => {
  await withWorld(service, async (world) => {
    const program = {
      lines: inputs({ userData: new Secret(lines) }),
      bytes: inputs({ userDataBase64: new Secret(bytes.toString("base64")) }),
    };
    await expectMade(world, program);
    for (const [name, sent] of Object.entries({ lines: Buffer.from(lines), bytes })) {
      const { id } = world.stack.held(name);
      const { user_data = "" } = world.service.control.instance(id)?.request ?? {};
      expect(Buffer.from(user_data, "base64").equals(sent)).toBe(true);
    }
  });
});
