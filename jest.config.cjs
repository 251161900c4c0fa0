/**
 * Eight kinds of test, by how much of the real thing they start. `npm test` runs all but `rest`: what else the real engine
 * shows, all histories, and what is about releases; `tools/test.ts` says which command runs what.
 */
const { availableParallelism } = require("node:os");

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
  moduleNameMapper: {
    // A dynamic import names its file as Node would find it; here the file is still TypeScript.
    "^(\\.{1,2}/.*)\\.js$": "$1",
    "^fast-check$": "<rootDir>/tests/support/fastCheck.cjs",
  },
  setupFiles: ["<rootDir>/tests/support/disposal.ts"],
  modulePathIgnorePatterns: ["<rootDir>/sdk/", "<rootDir>/.tools/", "<rootDir>/bin/"],
  watchPathIgnorePatterns: ["<rootDir>/.tools/", "<rootDir>/bin/"],
};

const engine = {
  ...shared,
  globalSetup: "<rootDir>/tests/engine/globalSetup.ts",
  globalTeardown: "<rootDir>/tests/engine/globalTeardown.ts",
};

const project = (displayName, testMatch, base = shared) => ({ ...base, displayName, testMatch });

module.exports = {
  // Where one waits, for a process or a time-out, another computes.
  maxWorkers: availableParallelism() + 1,
  // Of the tests of one file that say they can run at once.
  maxConcurrency: 3,
  // For a test that hangs. How long one takes hangs on what else the machine does.
  testTimeout: 600_000,
  testSequencer: "<rootDir>/tests/support/sequencer.cjs",
  projects: [
    project(
      "unit",
      // On Windows, a brace after a slash would stand for itself.
      ["provider", "emulator", "cli", "tools", "tests/userData", "tests/engine/support"].map(
        (folder) => `<rootDir>/${folder}/**/*.test.ts`,
      ),
      {
        ...shared,
        testPathIgnorePatterns: [
          "<rootDir>/tools/(dist|release)/",
          "<rootDir>/emulator/page/browser",
        ],
      },
    ),
    // Fetches a browser.
    project("page", ["<rootDir>/emulator/page/browser.test.ts"]),
    project("contract", ["<rootDir>/tests/contract/**/*.test.ts"]),
    project("explorer", ["<rootDir>/tests/explorer/*.test.ts"]),
    project("simulation", ["<rootDir>/tests/simulation/*.test.ts"]),
    project("lifecycle", ["<rootDir>/tests/lifecycle/**/*.test.ts"]),
    project("core", ["<rootDir>/tests/engine/core/*.test.ts"], {
      ...engine,
      globalSetup: "<rootDir>/tests/engine/core/globalSetup.ts",
    }),
    project(
      "rest",
      // What is released is built by Go, in part.
      [
        "<rootDir>/tests/engine/*.test.ts",
        "<rootDir>/tests/explorer/rest/*.test.ts",
        "<rootDir>/tests/simulation/rest/*.test.ts",
        "<rootDir>/tools/dist/**/*.test.ts",
        "<rootDir>/tools/release/**/*.test.ts",
      ],
      engine,
    ),
  ],
};
