/** Tests that secrets and control characters are removed from messages. */
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { redactionMark, Redactor, withoutScript } from "./redaction";

test("a secret is replaced wherever it appears, also in its JSON form", () => {
  const redactor = new Redactor();
  redactor.hide('pass"word\nline two');
  const shown = redactor.redact(`x pass"word\nline two y ${JSON.stringify('pass"word\nline two')}`);
  expect(shown).toBe('x [secret] y "[secret]"');
});

test("a longer line of a secret is replaced by itself, and a short word is not", () => {
  const redactor = new Redactor();
  redactor.hide("#cloud-config\npassword: hunter2hunter2\nrun: ok");
  expect(redactor.redact("failed at password: hunter2hunter2 in run: ok")).toBe(
    "failed at [secret] in run: ok",
  );
});

test("a whole secret is replaced before its single lines", () => {
  const redactor = new Redactor();
  redactor.hide("first-long-line-here");
  redactor.hide("first-long-line-here\nand the rest");
  expect(redactor.redact("<first-long-line-here\nand the rest>")).toBe("<[secret]>");
});

test("a secret is also replaced in Base64, the form in which user data is sent", () => {
  const redactor = new Redactor();
  redactor.hide("#!/bin/sh\n");
  expect(redactor.redact(`user_data ${btoa("#!/bin/sh\n")} is bad`)).toBe(
    "user_data [secret] is bad",
  );
});

test("a secret is replaced until each call that hides it has ended that", () => {
  const redactor = new Redactor();
  const script = "#!/bin/sh\necho a line of the script\n";
  const [one, other] = [redactor.hide(script), redactor.hide(script)];
  const shown = () => redactor.redact("x: echo a line of the script");
  one[Symbol.dispose]();
  one[Symbol.dispose]();
  expect(shown()).toBe("x: [secret]");
  other[Symbol.dispose]();
  expect(shown()).toBe("x: echo a line of the script");
});

test("every part of a token of eight characters or more is replaced, and shorter parts are not", () => {
  const redactor = new Redactor();
  redactor.hideParts("0123456789abcdef");
  expect(redactor.redact("x456789abcdef, y01234567z, 0123456 and 89abcdef01234567")).toBe(
    "x[secret], y[secret]z, 0123456 and [secret][secret]",
  );
});

test("parts of a short token stay, since they are ordinary words", () => {
  const redactor = new Redactor();
  redactor.hideParts("emulator");
  expect(redactor.redact("the emulator")).toBe("the emulator");
});

test("a secret is replaced even if a control character is inside it", () => {
  const redactor = new Redactor();
  redactor.hide("sk_live_0123456789");
  expect(redactor.redact("sk_live_\u001b0123456789")).toBe("[secret]");
});

test("characters that move the cursor or reorder text are removed", () => {
  const redactor = new Redactor();
  expect(redactor.redact("a\u001b[2Jb\u202ec\u0000d\re\u009b")).toBe("a[2Jbcd e");
  expect(redactor.redact("a\tb")).toBe("a\tb");
});

test("line breaks are removed, and do not hide a secret", () => {
  const redactor = new Redactor();
  for (const end of ["\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"]) {
    expect(redactor.redact(`i-1${end}error: forged`)).toBe("i-1 error: forged");
  }
  redactor.hide("two words");
  expect(redactor.redact("two\nwords")).toBe("[secret]");
});

test("the result never contains the secret, and is always well formed", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (before, after) => {
      const redactor = new Redactor();
      redactor.hide("canary-0123456789");
      const shown = redactor.redact(`${before}canary-0123456789${after}`);
      expect(shown).not.toContain("canary-0123456789");
      expect(shown.isWellFormed()).toBe(true);
      expect(shown).not.toMatch(/[^\P{Cc}\t]|[\u2028\u2029]|\p{Bidi_Control}/u);
    }),
  );
});

const base64Of = (script: string | Buffer) => Buffer.from(script).toString("base64");

test("of a text about a script, eight characters in a row of it are replaced, and seven are not", () => {
  const base64 = base64Of("#!/bin/sh\n\n  echo 'hi'\n");
  expect(withoutScript("no #!/bin/, cho 'hi", base64)).toBe("no #!/bin/, cho 'hi");
  expect(withoutScript("no #!/bin/s, echo 'hi'", base64)).toBe("no [secret],[secret]");
  expect(withoutScript(`no ${base64.slice(4, 12)} ${base64.slice(4, 11)}`, base64)).toBe(
    `no [secret] ${base64.slice(4, 11)}`,
  );
  expect(withoutScript("sh echo: no", base64)).toBe("sh echo: no");
  expect(withoutScript("sh echo 'hi: no", base64)).toBe("[secret]: no");
});

test("of a text about a script that is not text, what is sent is replaced, and so are its bytes as text", () => {
  const bytes = Buffer.from([31, 139, 8, 0, 0, 255, 254, 65, 66, 67, 68, 69, 70, 71, 72]);
  const shown = new Redactor().redact(bytes.toString());
  expect(withoutScript(`no ${shown}, ${base64Of(bytes)}`, base64Of(bytes))).toBe(
    "no [secret], [secret]",
  );
});

test("the beginning of an address stays, although the script has one, too", () => {
  const base64 = base64Of("#!/bin/sh\ncurl https://acme.test/setup | sh\n");
  const see = "see https://docs.example, not https://acme.test/setup";
  expect(withoutScript(see, base64)).toBe("see https://docs.example, not https://[secret]");
});

test("whatever a text repeats of a script, no eight characters in a row of that are left", () => {
  const pieces = fc.array(fc.tuple(fc.nat(60), fc.nat(20), fc.string({ maxLength: 3 })));
  const scripts = fc.string({ minLength: 8, maxLength: 60 });
  fc.assert(
    fc.property(scripts, pieces, fc.boolean(), (script, cuts, isPlain) => {
      const redactor = new Redactor();
      const base64 = base64Of(script);
      const source = isPlain ? redactor.redact(script.replace(/\s+/g, " ")) : base64;
      const text = cuts.map(([from, length, after]) => source.slice(from, from + length) + after);
      const shown = withoutScript(redactor.redact(text.join("")), base64);
      const partsOf = (rest: string) =>
        Array.from({ length: Math.max(0, rest.length - 7) }, (_, at) => rest.slice(at, at + 8));
      const left = shown.split(redactionMark).flatMap(partsOf);
      expect(left.filter((part) => source.includes(part))).toEqual([]);
    }),
  );
});
