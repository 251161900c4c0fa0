import { test } from "@jest/globals";
import { Secret } from "../../provider/property/value";
import { inputs } from "./support/stack";
import { withWorld } from "./support/world";
test("x", async () => {
  for (const [nameLen, dataLen] of [[10_000,0],[10,20_000],[10,40_000],[10,60_000],[10,100_000],[10,1_000_000]] as const)
  await withWorld({ provisioningSeconds: Infinity }, async (world) => {
    const plugin = await world.plugin({requestTimeoutSeconds: 5});
    const { failure } = await world.stack.up(plugin, { web: inputs({ name: "漢".repeat(nameLen), userData: new Secret("a".repeat(dataLen)) }) }, { timeoutSeconds: 0.5 });
    process.stderr.write(`${nameLen} ${dataLen} ${failure.code} ${failure.message.slice(0,100)} ${failure.unfinished?.id}\n`);
  });
}, 60000);
