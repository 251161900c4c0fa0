/** Tests of the warning about a plugin that is older than the SDK. */
import { expect, test } from "@jest/globals";
import { newerSdkWarning } from "./providerInputs";

const warningFor = (version: string | number | undefined) =>
  newerSdkWarning(version === undefined ? {} : { version }, {
    pluginVersion: "0.9.5",
    folder: "/there",
  });

test.each(["0.9.6", "0.10.0", "1.0.0", "v0.9.6", "0.10.0-beta.1"])(
  "an SDK of version %s causes a warning that the plugin 0.9.5 is too old",
  (version) => {
    expect(warningFor(version)).toMatch(
      /asks for version .* in \/there, which Pulumi uses, is 0\.9\.5/,
    );
    expect(warningFor(version)).toContain(
      `pulumi plugin install resource compute ${version} --server`,
    );
  },
);

test.each(["0.9.5", "0.9.4", "0.8.99", "0.9.5-beta.1", "latest", "", 1, undefined])(
  "an SDK of version %s causes no warning",
  (version) => expect(warningFor(version)).toBeUndefined(),
);
