/** `tsc` looks at the types; here they are only taken off. */
module.exports = {
  testEnvironment: "node",
  transform: { "^.+\\.ts$": ["@swc/jest", { jsc: { parser: { syntax: "typescript" } } }] },
};
