import { propertyMap } from "../../propertyValue";
import type { Provider } from "../../requests";

export type Recorded = {
  [Name in keyof Provider]: [Name, Parameters<Provider[Name]>[0]];
}[keyof Provider];

/** Answers as the test says, with something harmless where it says nothing, and keeps every call. */
export function scriptedProvider(script: Partial<Provider> = {}): {
  provider: Provider;
  calls: Recorded[];
} {
  const calls: Recorded[] = [];
  const outputs = propertyMap({});
  const answers: Provider = {
    checkConfig: async ({ news }) => ({ inputs: news, failures: [] }),
    configure: async () => undefined,
    check: async ({ news }) => ({ inputs: news, failures: [] }),
    diff: async () => ({ detailed: {}, deleteBeforeReplace: false }),
    create: async ({ inputs }) => ({ id: "i-1", outputs: inputs }),
    update: async ({ news }) => news,
    read: async () => undefined,
    delete: async () => undefined,
    invoke: async () => ({ outputs, failures: [] }),
    list: async () => [],
    cancel: () => undefined,
    renew: () => undefined,
    ...script,
  };
  const provider = new Proxy(answers, {
    get(target, name: keyof Provider) {
      // A promise that resolves to it asks for a `then`.
      if (!Object.hasOwn(target, name)) return undefined;
      return (request: never) => {
        calls.push([name, request]);
        return target[name](request);
      };
    },
  });
  return { provider, calls };
}
