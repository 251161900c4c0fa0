/**
 * fast-check with the same seed in every run, so that failures are reproducible. jest.config.cjs uses this file in place
 * of the package. COMPUTE_SEED sets another seed.
 */
const fastCheck = require("../../node_modules/fast-check/lib/cjs/fast-check");

fastCheck.configureGlobal({ seed: Number(process.env.COMPUTE_SEED ?? 1) });

module.exports = fastCheck;
