/** For processes of their own: every Create waits until it is cancelled, as a long wait does. */
import { InstanceUnfinished } from "../../errors";
import { propertyMap } from "../../propertyValue";
import type { Provider } from "../../requests";
import type { Messages } from "../../context";
import { scriptedProvider } from "./scriptedProvider";

export function createProvider({ messages }: { messages: Messages }): Provider {
  const canceled = Promise.withResolvers<void>();
  return scriptedProvider({
    create: async ({ inputs, urn }) => {
      messages.status(urn, "waiting");
      await canceled.promise;
      throw new InstanceUnfinished("i-1", { inputs, outputs: inputs }, ["cancelled"]);
    },
    // The environment, as a provider finds it.
    check: async () => ({ inputs: propertyMap({ ...process.env }), failures: [] }),
    // A defect behind everyone's back.
    read: async () => {
      setImmediate(() => {
        throw new Error("uncaught");
      });
      void Promise.reject(new Error("unhandled"));
      console.debug("not for stdout");
      return { id: "i-1", inputs: propertyMap({}), outputs: propertyMap({}) };
    },
    cancel: (idle) => {
      process.stderr.write(`cancel, idle: ${idle}\n`);
      canceled.resolve();
    },
  }).provider;
}
