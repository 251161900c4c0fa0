/**
 * The test sequencer of Jest: starts the slowest test files first, so that no worker is left alone with one at the end.
 * It sorts by kind and size and not by remembered durations, so the first run in a new clone is as fast as the next.
 */
const { statSync } = require("node:fs");

/** Parts of paths, the slowest files first. Files whose paths contain none of them come last. */
const longestFirst = [
  "/tests/simulation/",
  "/tests/explorer/",
  "/tests/engine/installing",
  "/tests/engine/dist",
  "/tests/engine/backends",
  "/tests/engine/codeBlocks",
  "/tests/engine/",
  "/tests/lifecycle/",
];

function rank(path) {
  const found = longestFirst.findIndex((part) => path.includes(part));
  return found < 0 ? longestFirst.length : found;
}

module.exports = class Sequencer {
  sort(tests) {
    const known = new Map(
      tests.map((test) => [test, { rank: rank(test.path), size: statSync(test.path).size }]),
    );
    return [...tests].sort((one, other) => {
      const [a, b] = [known.get(one), known.get(other)];
      return a.rank - b.rank || b.size - a.size || (one.path < other.path ? -1 : 1);
    });
  }

  /** Called by Jest to remember durations and failures. Does nothing. */
  cacheResults() {}

  /** Called for `--onlyFailures`. Returns all tests, because no failure is remembered. */
  allFailedTests(tests) {
    return tests;
  }
};
