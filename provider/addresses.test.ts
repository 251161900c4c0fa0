/** Tests that passwords are removed from the addresses of state backends. */
import { expect, test } from "@jest/globals";
import { withoutPasswords, withoutPasswordsInText } from "./addresses";

test.each([
  ["postgres://me:pw-1@db.example/state?sslmode=require"],
  ["postgres://me:p@w:1@db.example/state?sslmode=require"],
  ["postgres://me@db.example/state?sslmode=require&password=pw-1"],
  ["postgres://me:pw-1@db.example/state?password=pw-1&sslmode=require"],
])("%s: only the password is removed (secrets stay secret: G8)", (url) => {
  expect(withoutPasswords(url)).toBe("postgres://me@db.example/state?sslmode=require");
});

test("passwords are removed from every address in a message", () => {
  const message = (auth: string) =>
    `unable to open postgres://${auth}db/a: no, postgres://${auth}db/b`;
  expect(withoutPasswords(message("me:pw-1@"))).toBe(message("me@"));
  expect(withoutPasswords("no postgres://db/a?password=pw-1: why?")).toMatch(/^no .*\/a why\?$/);
});

test.each([
  ["postgres://me:pa/s@s@db.example/state?sslmode=require&sslpassword=pw"],
  ["postgres://me:pa#s?s@db.example/state?sslpassword=pw&a=b"],
])("from a message with the wrong address %s, too", (url) => {
  const message = withoutPasswordsInText(`error: parse "${url}": invalid port ":pa" after host`);
  expect(message).toMatch(/^error: parse "postgres:\/\/me@db\.example\/state\?.*": invalid port/);
  expect(message).not.toMatch(/:pa|=pw|s@s/);
});

test.each([
  "s3://state?endpoint=http://127.0.0.1:9000&s3ForcePathStyle=true",
  "s3://state/folder?endpoint=minio:9000&awssdk=v2",
  "postgres://me@db:5432/state?options=a:b@c",
  "file:///home/me/state",
  "file://~",
  "azblob://state?storage_account=mine",
  "",
])("%s has no password, and does not change", (url) => expect(withoutPasswords(url)).toBe(url));
