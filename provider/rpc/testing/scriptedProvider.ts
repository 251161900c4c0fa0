/** A provider for tests of the server, whose results each test chooses. */
import { propertyMap } from "../../pulumi/propertyValue";
import type { Provider } from "../../pulumi/calls";

/** A call: the name of the method, and its first argument. */
export type RecordedCall = {
  [Name in keyof Provider]: [Name, Parameters<Provider[Name]>[0]];
}[keyof Provider];

/** Makes a provider with the methods in `script`. All others succeed with a simple result. */
export function scriptedProvider(script: Partial<Provider> = {}): {
  provider: Provider;
  calls: RecordedCall[];
} {
  const calls: RecordedCall[] = [];
  const outputs = propertyMap({});
  const methods: Provider = {
    checkConfig: async ({ news }) => ({ inputs: news, failures: [] }),
    configure: async () => undefined,
    check: async ({ news }) => ({ inputs: news, failures: [] }),
    diff: async () => ({ detailed: {}, deleteBeforeReplace: false }),
    create: async ({ inputs }) => ({ id: "i-1", outputs: inputs, refreshBeforeUpdate: false }),
    update: async ({ news }) => ({ outputs: news, refreshBeforeUpdate: false }),
    read: async () => undefined,
    delete: async () => undefined,
    invoke: async () => ({ outputs }),
    list: async () => [],
    cancel: () => undefined,
    renew: () => undefined,
    ...script,
  };
  const provider = new Proxy(methods, {
    get(target, name: keyof Provider) {
      // A promise that resolves to this provider asks it for a property `then`.
      if (!Object.hasOwn(target, name)) return undefined;
      return (request: never) => {
        calls.push([name, request]);
        return target[name](request);
      };
    },
  });
  return { provider, calls };
}
