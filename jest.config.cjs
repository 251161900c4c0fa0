/** Five kinds of test, by how much of the real thing they start; `tools/test.ts` runs them all. */
const shared = {
  testEnvironment: "node",
  transform: {
    "^.+\\.ts$": [
      "@swc/jest",
      {
        jsc: { target: "es2024", parser: { syntax: "typescript" } },
        module: { type: "commonjs" },
        sourceMaps: "inline",
      },
    ],
  },
  // A dynamic import names its file as Node would find it; here the file is still TypeScript.
  moduleNameMapper: { "^(\\.{1,2}/.*)\\.js$": "$1" },
  setupFiles: ["<rootDir>/tests/support/disposal.ts"],
  modulePathIgnorePatterns: ["<rootDir>/sdk/", "<rootDir>/.tools/", "<rootDir>/bin/"],
  watchPathIgnorePatterns: ["<rootDir>/.tools/", "<rootDir>/bin/"],
};

module.exports = {
  // Tests wait more than they compute.
  maxWorkers: "100%",
  // For a test that hangs. How long one takes hangs on what else the machine does.
  testTimeout: 600_000,
  projects: [
    {
      ...shared,
      displayName: "unit",
      testMatch: ["<rootDir>/{provider,emulator,tools}/**/*.test.ts"],
    },
    { ...shared, displayName: "explorer", testMatch: ["<rootDir>/tests/explorer/**/*.test.ts"] },
    { ...shared, displayName: "contract", testMatch: ["<rootDir>/tests/contract/**/*.test.ts"] },
    { ...shared, displayName: "lifecycle", testMatch: ["<rootDir>/tests/lifecycle/**/*.test.ts"] },
    {
      ...shared,
      displayName: "engine",
      testMatch: ["<rootDir>/tests/engine/**/*.test.ts"],
      globalSetup: "<rootDir>/tests/engine/globalSetup.ts",
      globalTeardown: "<rootDir>/tests/engine/globalTeardown.ts",
    },
  ],
};
