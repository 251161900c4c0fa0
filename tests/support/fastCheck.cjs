/**
 * fast-check with the same seed in every run: who runs the tests finds what the last one found. jest.config.cjs
 * puts it in the place of the package. COMPUTE_SEED searches with another one.
 */
const fastCheck = require("../../node_modules/fast-check/lib/cjs/fast-check");

fastCheck.configureGlobal({ seed: Number(process.env.COMPUTE_SEED ?? 1) });

module.exports = fastCheck;
