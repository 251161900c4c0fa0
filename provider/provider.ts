/** The provider behind the wire: hands each request to the resource or function it is for. */
import { Canceled, TimedOut } from "./abort";
import { explain, explicitProvider } from "./advice";
import { RequestError } from "./api/errors";
import { checkConfig, resolveSettings } from "./config/configuration";
import { hideToken } from "./config/hideToken";
import { OperationCanceled, OperationFailed } from "./errors";
import { hasSecret, secretTexts, type PropertyMap } from "./property/value";
import { isRefresh, type Provider } from "./requests";
import { instances } from "./resources/instance";
import { invoke, list } from "./resources/lookups";
import { Session } from "./session/session";
import type { Surroundings } from "./surroundings";

export function createProvider(around: Surroundings): Provider {
  let cancellation = new AbortController();
  let current: Session | undefined;

  const session = (): Session => {
    if (!current)
      throw new OperationFailed("the compute provider was called before it was configured");
    return current;
  };
  /** What must never be printed is known before anything about the call can be. */
  const hide = (...maps: (PropertyMap | undefined)[]) => {
    for (const map of maps) {
      if (hasSecret(map)) for (const text of secretTexts(map)) around.cleaner.hide(text);
    }
  };

  return {
    checkConfig: (request) =>
      guarded(() => {
        hideToken(around, request.news);
        return checkConfig(request.news, around.env);
      }),

    configure: (request) =>
      guarded(() => {
        hideToken(around, request.args);
        current = new Session(
          resolveSettings(request.args, around.env),
          around,
          () => cancellation.signal,
          explicitProvider(request.urn),
        );
      }),

    check: (request) =>
      guarded(() => {
        hide(request.olds, request.news);
        current?.state.checked(request.urn);
        const checked = instances.check(request);
        hide(checked.inputs);
        return checked;
      }),

    diff: (request) =>
      guarded(() => {
        hide(request.oldInputs, request.oldOutputs, request.news);
        session().state.carried(request.urn, request.id, request.oldOutputs);
        return instances.diff(session(), request);
      }),

    create: (request) =>
      guarded(() => {
        hide(request.inputs);
        return instances.create(session(), request);
      }),

    update: (request) =>
      guarded(() => {
        hide(request.oldInputs, request.oldOutputs, request.news);
        session().state.carried(request.urn, request.id, request.oldOutputs);
        return instances.update(session(), request);
      }),

    read: (request) =>
      guarded(() => {
        hide(request.inputs, request.outputs);
        // An import and a `.get()` carry an id that the state does not hold, or not yet.
        if (isRefresh(request)) session().state.carried(request.urn, request.id, request.outputs);
        session().state.isRead(request.urn);
        return instances.read(session(), request);
      }),

    delete: (request) =>
      guarded(() => {
        hide(request.oldInputs, request.oldOutputs);
        session().state.carried(request.urn, request.id, request.oldOutputs);
        return instances.delete(session(), request);
      }),

    invoke: (request) =>
      guarded(() => {
        hide(request.args);
        return invoke(session(), request);
      }),
    list: (request) =>
      guarded(() => {
        hide(request.query);
        return list(session(), request);
      }),

    cancel: (idle) => {
      // Amid calls it is Ctrl-C: what they answer is lost should a second one end the engine at once.
      if (idle && !cancellation.signal.aborted) current?.creates.noteAnswered();
      cancellation.abort(new Canceled());
    },
    renew: () => {
      if (cancellation.signal.aborted) cancellation = new AbortController();
    },
  };
}

/**
 * Whatever ends an operation early is told in the words of the provider's own errors. Once something
 * was sent that may change anything, the operation itself says what became of it.
 */
async function guarded<T>(operation: () => T | Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof RequestError) throw new OperationFailed(explain(error), { cause: error });
    if (error instanceof Canceled) throw new OperationCanceled();
    if (error instanceof TimedOut) {
      throw new OperationFailed(
        `nothing was changed: the ${error.seconds} s of the operation (customTimeouts) were over first. What it waited for: another create of the same name, the rate limit, or the service's answers`,
      );
    }
    throw error;
  }
}
