/**
 * Starts first what takes longest, so that no worker is left alone with it at the end. By kind and size, and
 * not by what jest remembers: the first run in a new clone is as quick as the next.
 */
const { statSync } = require("node:fs");

/** Parts of paths, by how long such files take; what none of them is part of comes last. */
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

  /** Jest would have it remember durations and failures. */
  cacheResults() {}

  /** For `--onlyFailures`: nothing is remembered. */
  allFailedTests(tests) {
    return tests;
  }
};
