/**
 * A provider that is loaded with the first call that needs it. The engine waits for the port, and
 * half of the plugins it starts are asked for nothing but the schema.
 */
import type { Provider } from "./requests";

export function deferred(load: () => Promise<Provider>): Provider {
  let loading: Promise<Provider> | undefined;
  let loaded: Provider | undefined;
  /** Cancel came before there was a provider to tell. */
  let canceled = false;

  const provider = () =>
    (loading ??= load().then((it) => {
      loaded = it;
      // A call that waits for the loading is not to start what was cancelled meanwhile.
      if (canceled) it.cancel(false);
      return it;
    }));

  return {
    checkConfig: async (request) => (await provider()).checkConfig(request),
    configure: async (request) => (await provider()).configure(request),
    check: async (request) => (await provider()).check(request),
    diff: async (request) => (await provider()).diff(request),
    create: async (request) => (await provider()).create(request),
    update: async (request) => (await provider()).update(request),
    read: async (request) => (await provider()).read(request),
    delete: async (request) => (await provider()).delete(request),
    invoke: async (request) => (await provider()).invoke(request),
    list: async (request) => (await provider()).list(request),
    cancel: (idle, engineGone) => {
      canceled = true;
      loaded?.cancel(idle, engineGone);
    },
    renew: () => {
      canceled = false;
      loaded?.renew();
    },
  };
}
