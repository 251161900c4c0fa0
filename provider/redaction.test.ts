/** Tests that secrets and control characters are removed from messages. */
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { Redactor } from "./redaction";

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
