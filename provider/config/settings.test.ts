/** Tests of the types and defaults of the settings. */
import { expect, test } from "@jest/globals";
import { settingTypes } from "./settings";

function readBaseUrl(given: string): string | undefined {
  const { data, error } = settingTypes.baseUrl.safeParse(given);
  return data ?? error?.issues.map((issue) => issue.message).join();
}

test.each([
  ["https://api.example.com/v2", "https://api.example.com/v2"],
  [" https://API.Example.com:443/v2// ", "https://api.example.com/v2"],
  ["https://api.example.com/compute/v2/", "https://api.example.com/compute/v2"],
  ["http://localhost:8080/v2", "http://localhost:8080/v2"],
  ["http://127.0.0.2/v2/", "http://127.0.0.2/v2"],
  ["http://[::1]:9/v2", "http://[::1]:9/v2"],
])("%s is used as %s", (given, used) => {
  expect(readBaseUrl(given)).toBe(used);
});

test.each([
  ["api.example.com/v2", "must be an address"],
  ["ftp://api.example.com/v2", "must be an address"],
  ["https://user:pw@api.example.com/v2", "user name or password"],
  ["https://api.example.com/v2?a=b", "query or a fragment"],
  ["https://api.example.com/v2#x", "query or a fragment"],
  ["https://api.example.com/", "must end in /v2"],
  ["https://api.example.com/v1", "must end in /v2"],
])("%s is refused: %s", (given, why) => {
  expect(readBaseUrl(given)).toContain(why);
});

test.each([
  "http://api.example.com/v2",
  "http://10.0.0.1/v2",
  "http://127.0.0.1.example.com/v2",
  "http://localhost.example.com/v2",
  "http://a.localhost/v2",
])("the token never crosses a network in clear: %s is refused (G8)", (given) => {
  expect(readBaseUrl(given)).toContain("must be https");
});
