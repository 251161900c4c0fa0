/** A provider for tests of the plugin as a process. Create waits for Cancel, and Update ends half a second later. */
import { setTimeout as sleep } from "node:timers/promises";
import { InstanceUnfinished } from "../../errors";
import { propertyMap } from "../../pulumi/propertyValue";
import type { Provider } from "../../pulumi/calls";
import type { Messages } from "../../context";
import { scriptedProvider } from "./scriptedProvider";

/** Replaces the function of `provider/provider.ts`. */
export function createProvider({ messages }: { messages: Messages }): Provider {
  const canceled = Promise.withResolvers<void>();
  return scriptedProvider({
    create: async ({ inputs, urn }) => {
      messages.status(urn, "waiting");
      await canceled.promise;
      throw new InstanceUnfinished("i-1", { inputs, outputs: inputs }, ["cancelled"]);
    },
    // Continues for a while after Cancel, as a Create does while its POST is under way.
    update: async ({ urn }) => {
      messages.status(urn, "waiting");
      await canceled.promise;
      await sleep(500);
      process.stderr.write("the update has ended\n");
      return { outputs: propertyMap({}), refreshBeforeUpdate: false };
    },
    // Shows the environment.
    check: async () => ({ inputs: propertyMap({ ...process.env }), failures: [] }),
    // Throws and rejects where nothing catches, as a defect would.
    read: async () => {
      setImmediate(() => {
        throw new Error("uncaught");
      });
      void Promise.reject(new Error("unhandled"));
      console.debug("not for stdout");
      const nothing = propertyMap({});
      return { id: "i-1", inputs: nothing, outputs: nothing, refreshBeforeUpdate: false };
    },
    cancel: (reason) => {
      process.stderr.write(`cancel: ${reason}\n`);
      canceled.resolve();
    },
  }).provider;
}
