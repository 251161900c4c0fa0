/** Tests that the search for secrets of these tests finds them, in texts, in files and in the engine's logs (G8). */
import { createCipheriv, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "@jest/globals";
import { temporaryFolder } from "../../../provider/testing/temporaryFolder";
import { deriveKey, encryptionSalt } from "./engineLogs";
import { userData } from "./programs";
import { canaries, forms, parts, refuseSecrets, refuseSecretsOnDisk } from "./secrets";
import { tokens } from "./stack";

const base64 = (text: string) => Buffer.from(text).toString("base64");

test.each(Object.entries(forms))(
  "the search of these tests finds any part of a planted secret: %s",
  async (_, form) => {
    for (const canary of Object.values(canaries)) {
      for (const part of [canary, ...parts(canary)]) {
        for (const text of form(part)) {
          const planted = () => refuseSecrets("here", `before ${text} after`);
          expect(planted).toThrow("G8 broken: here");
        }
      }
    }
    refuseSecrets("here", "nothing of the kind");
  },
);

test("the search finds a secret inside a longer string in Base64, and in a file", () => {
  const encoded = ["", "a", "ab"].map((start) => base64(`${start}${userData}`));
  for (const text of [...encoded, base64(base64(userData) + canaries.token)]) {
    expect(() => refuseSecrets("here", text)).toThrow("G8 broken: here");
  }

  const folder = temporaryFolder();
  for (const text of [tokens.live, userData]) {
    writeFileSync(join(folder, "log"), text);
    expect(() => refuseSecretsOnDisk(folder)).toThrow("G8 broken");
  }
});

/** Encrypts a log as the engine does, in one chunk. */
function encryptLog(text: string, stackKey = deriveKey(encryptionSalt)): Buffer {
  const encrypt = (key: Buffer, nonce: Buffer, bytes: Buffer) => {
    const cipher = createCipheriv("aes-256-gcm", key, nonce);
    return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  };
  const [key, nonce] = [randomBytes(32), randomBytes(12)];
  const sealedKey = encrypt(stackKey, nonce, key).toString("base64");
  const header = Buffer.from(`v1:${nonce.toString("base64")}:${sealedKey}`);
  const chunk = Buffer.concat([nonce, encrypt(key, nonce, gzipSync(text))]);
  const [keyLength, chunkLength] = [Buffer.alloc(2), Buffer.alloc(4)];
  keyLength.writeUInt16BE(header.length);
  chunkLength.writeUInt32BE(chunk.length);
  return Buffer.concat([Buffer.from("PLOG\u0001"), keyLength, header, chunkLength, chunk]);
}

test("the search opens the engine's logs, even if they are encrypted or end too early", () => {
  const folder = temporaryFolder();
  const log = join(folder, "logs", "pulumi.log");
  mkdirSync(dirname(log));
  const plant = (bytes: Buffer) => {
    writeFileSync(log, bytes);
    return () => refuseSecretsOnDisk(folder);
  };
  const record = (msg: string) =>
    `${JSON.stringify({ time: "2026-11-22T18:42:17Z", level: "INFO", msg, v: 7 })}\n`;
  for (const seal of [gzipSync, (text: string) => encryptLog(text)]) {
    const secret = seal(`${record("nothing")}${record(`<{%reset%}>${userData}`)}`);
    expect(plant(secret)).toThrow(`G8 broken: ${log}`);
    expect(plant(secret.subarray(0, -3))).not.toThrow("can't be opened");
    expect(plant(seal(record("nothing of the kind")))).not.toThrow();
  }
  const propertyLine = record(`Marshaling property for RPC[%s]: userData=${userData}`);
  expect(plant(encryptLog(propertyLine))).not.toThrow();
  expect(plant(gzipSync(propertyLine))).toThrow("G8 broken");
  expect(plant(Buffer.from("in clear"))).toThrow(`${log} can't be opened`);
  expect(plant(encryptLog("x", randomBytes(32)))).toThrow(`${log} can't be opened`);
});
