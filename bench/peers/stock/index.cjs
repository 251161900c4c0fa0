/**
 * A peer for the benchmarks: the same resource on the provider server of `@pulumi/pulumi/provider`. This provider answers
 * every call at once, without a service. It is plain JavaScript, which starts faster than the usual TypeScript.
 */
"use strict";
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { main } = require("@pulumi/pulumi/provider");

const provider = {
  version: "0.1.0",
  getSchema: async () => readFileSync(join(__dirname, "../../../schema.json"), "utf8"),
  check: async (_urn, _olds, news) => ({ inputs: news }),
  diff: async () => ({ changes: false }),
  create: async (_urn, inputs) => ({
    id: `i-${inputs.name}`,
    outs: { ...inputs, status: "ACTIVE", ipv4: "203.0.113.1" },
  }),
  read: async (id, _urn, props) => ({ id, props }),
  delete: async () => undefined,
};

void main(provider, process.argv.slice(2));
