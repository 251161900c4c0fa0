/** Executables that others made, the Go compiler: it knows each format, and signs for macOS itself. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { describeUnless, lackOfGo } from "../support/unless";
import { checkExecutable, formats } from "./check";
import { checkSignature } from "./formats/macho";
import { platformNames, platforms } from "./platforms";

const compiled = ["linux-arm64", "darwin-arm64", "windows-amd64"] as const;

describeUnless(lackOfGo(), "executables of the Go compiler", () => {
  const made = {} as Record<(typeof compiled)[number], Buffer>;

  beforeAll(() => {
    const folder = mkdtempSync(join(tmpdir(), "compute-formats-"));
    writeFileSync(join(folder, "main.go"), "package main\n\nfunc main() {}\n");
    for (const platform of compiled) {
      const [GOOS, GOARCH] = platform.split("-");
      const file = join(folder, platform);
      execFileSync("go", ["build", "-trimpath", "-o", file, "main.go"], {
        cwd: folder,
        env: { ...process.env, GOOS, GOARCH, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" },
      });
      made[platform] = readFileSync(file);
    }
    rmSync(folder, { recursive: true });
  });

  test.each(compiled)("one for %s is known as such, and as no plugin", (platform) => {
    const file = made[platform];
    expect(formats[platforms[platform].format].embedded(file)).toBeUndefined();
    expect(() => checkExecutable(platform, file, [])).toThrow("does not look for a plugin");
  });

  test.each(compiled)("one for %s is none for any other platform", (platform) => {
    for (const other of platformNames.filter((it) => it !== platform)) {
      expect(() => checkExecutable(other, made[platform], [])).toThrow(
        /its processor|no PE|no ELF|no Mach-O|no executable for Windows/,
      );
    }
  });

  test("without its symbols, one for Linux is smaller and still what it was", () => {
    const whole = made["linux-arm64"];
    const slim = formats.elf.slim(whole);
    expect(slim.length).toBeLessThan(whole.length);
    expect(formats.elf.processor(slim)).toBe("arm64");
    expect(formats.elf.slim(slim).equals(slim)).toBe(true);
  });

  test("a signature holds for each byte, to the last", () => {
    const file = made["darwin-arm64"];
    expect(() => checkSignature(file)).not.toThrow();
    for (const part of [0.1, 0.5, 0.9]) {
      const at = Math.floor(file.length * part);
      const changed = Buffer.from(file);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => checkSignature(changed)).toThrow("changed after signing");
    }
    expect(() => checkSignature(Buffer.concat([file, Buffer.from([0])]))).toThrow("behind");
  });
});
