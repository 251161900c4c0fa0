/** Tests the plugin as a process of its own whose engine is gone: no instance is lost (G1) or created twice (G2). */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { propertyMap, Secret } from "../../provider/pulumi/propertyValue";
import { connect } from "../../provider/rpc/testing/client";
import { bundleScripted, startPlugin, type Bundle } from "../../provider/rpc/testing/plugin";
import { inputs, urnOf } from "./support/stack";
import { testToken, until, withWorld } from "./support/world";

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleScripted("announcedCancels.ts");
});
afterAll(() => bundle.remove());

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "if the engine is gone after a %s, the engine was not given the id, and the next run goes on with the instance",
  (signal) =>
    withWorld({}, async (world) => {
      const { service, stack, home } = world;
      const env = { ...process.env, PULUMI_HOME: home };
      await using plugin = await startPlugin(bundle, ["127.0.0.1:1"], env);
      const client = connect(plugin.port);
      using cleanup = new DisposableStack();
      cleanup.defer(() => client.close());
      await client.handshake();
      const settings = { baseUrl: service.url, apiToken: new Secret(testToken) };
      await client.configure(propertyMap(settings), stack.scope);
      const urn = urnOf("web");
      const { inputs: checked } = await client.check({ urn, news: inputs() });
      const hang = service.control.fault({ kind: "hang", method: "POST", acted: true });
      const creating = client.create({ urn, inputs: checked }).catch((error: unknown) => error);
      await hang.firstHit;

      plugin.process.kill(signal);
      await until(() => plugin.stderr().includes("cancel: interrupted"));
      plugin.process.stdin?.end();
      await until(() => plugin.stderr().includes("cancel: engineGone"));
      hang.release();
      expect(await plugin.ended).toBe(signal === "SIGINT" ? signal : 0);
      await creating;

      const [id] = world.ids;
      expect(world.inDoubt.map((record) => [record.id, record.givenBy])).toEqual([[id, undefined]]);
      const next = await stack.up(await world.plugin(), { web: inputs() });
      expect(next.failed).toEqual({});
      world.expectAllHeld();
      expect(world.ids).toEqual([id]);
      expect(world.posts).toBe(1);
    }),
);
