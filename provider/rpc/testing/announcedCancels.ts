/** The real provider for tests of the plugin as a process. It writes the reason of each Cancel to stderr. */
import type { ProviderContext } from "../../context";
import { createProvider as createRealProvider } from "../../provider";
import type { Provider } from "../../pulumi/calls";

/** Replaces the function of `provider/provider.ts`. */
export function createProvider(ctx: ProviderContext): Provider {
  const provider = createRealProvider(ctx);
  const cancel: Provider["cancel"] = (reason) => {
    provider.cancel(reason);
    process.stderr.write(`cancel: ${reason}\n`);
  };
  return { ...provider, cancel };
}
