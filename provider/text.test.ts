import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { Cleaner } from "./text";

test("a secret is blanked wherever it turns up, also as JSON writes it", () => {
  const cleaner = new Cleaner();
  cleaner.hide('pass"word\nline two');
  const shown = cleaner.clean(`x pass"word\nline two y ${JSON.stringify('pass"word\nline two')}`);
  expect(shown).toBe('x [secret] y "[secret]"');
});

test("a longer line of a secret is blanked by itself, a short word is not", () => {
  const cleaner = new Cleaner();
  cleaner.hide("#cloud-config\npassword: hunter2hunter2\nrun: ok");
  expect(cleaner.clean("failed at password: hunter2hunter2 in run: ok")).toBe(
    "failed at [secret] in run: ok",
  );
});

test("a secret is blanked as a whole before a line of it is", () => {
  const cleaner = new Cleaner();
  cleaner.hide("first-long-line-here");
  cleaner.hide("first-long-line-here\nand the rest");
  expect(cleaner.clean("<first-long-line-here\nand the rest>")).toBe("<[secret]>");
});

test("a control character inside a secret does not save it", () => {
  const cleaner = new Cleaner();
  cleaner.hide("sk_live_0123456789");
  expect(cleaner.clean("sk_live_\u001b0123456789")).toBe("[secret]");
});

test("nothing that moves a cursor or turns text around reaches a terminal", () => {
  const cleaner = new Cleaner();
  expect(cleaner.clean("a\u001b[2Jb\u202ec\u0000d\re\u009b")).toBe("a[2Jbcde");
  expect(cleaner.clean("line\n\tindented")).toBe("line\n\tindented");
});

test("whatever the text, what comes out holds no secret and is well formed", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (before, after) => {
      const cleaner = new Cleaner();
      cleaner.hide("canary-0123456789");
      const shown = cleaner.clean(`${before}canary-0123456789${after}`);
      expect(shown).not.toContain("canary-0123456789");
      expect(shown.isWellFormed()).toBe(true);
    }),
  );
});
