/** The provider behind the wire: hands each request to the resource or function it is for. */
import * as crypto from "node:crypto";
import { Canceled, TimedOut } from "./abort";
import { explain, explicitProvider } from "./advice";
import { RequestError } from "./api/errors";
import { checkConfig, resolveSettings } from "./config/configuration";
import { hideToken } from "./config/hideToken";
import { OperationCanceled, OperationFailed } from "./errors";
import { hasSecret, secretTexts, type PropertyMap } from "./propertyValue";
import { isRefresh, type Provider, type Scope } from "./requests";
import { instances } from "./instance";
import { invoke, list } from "./functions/lookups";
import { Session } from "./session/session";
import type { ProviderContext } from "./context";

export function createProvider(ctx: ProviderContext): Provider {
  const { randomBytes = crypto.randomBytes } = ctx;
  const newSessionId = () => Buffer.from(randomBytes(6)).toString("hex");
  let cancellation = new AbortController();
  let sessionId = newSessionId();
  let current: { session: Session; configured: string; scope: Scope } | undefined;

  const session = (): Session => {
    if (!current)
      throw new OperationFailed("the compute provider was called before it was configured");
    return current.session;
  };
  /** Tells the redaction of a call's secrets before anything about the call can be printed. */
  const hide = (...maps: (PropertyMap | undefined)[]) => {
    for (const map of maps) {
      if (hasSecret(map)) for (const text of secretTexts(map)) ctx.redactor.hide(text);
    }
  };

  return {
    checkConfig: (request) =>
      guarded(() => {
        hideToken(ctx, request.news);
        return checkConfig(request.news, ctx.env);
      }),

    configure: (request) =>
      guarded(() => {
        hideToken(ctx, request.args);
        const settings = resolveSettings(request.args, ctx.env);
        const { urn, scope } = request;
        const configured = JSON.stringify({ settings, urn, scope });
        if (current) {
          // Attach mode: one process serves whatever provider the engine configures.
          if (current.configured === configured) return;
          throw new OperationFailed(secondConfiguration);
        }
        const session = new Session(settings, ctx, () => cancellation.signal, {
          session: sessionId,
          scope: scope.kind === "known" ? scope.id : undefined,
          stateless: urn?.endsWith("::") === true,
          provider: explicitProvider(urn),
        });
        current = { session, configured, scope };
      }),

    check: (request) =>
      guarded(() => {
        hide(request.olds, request.news);
        current?.session.state.checked(request.urn);
        const checked = instances.check(request, current?.scope ?? { kind: "none" });
        hide(checked.inputs);
        return checked;
      }),

    diff: (request) =>
      guarded(() => {
        hide(request.oldInputs, request.oldOutputs, request.news);
        session().state.observed(request.id, request.oldOutputs);
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
        session().state.observed(request.id, request.oldOutputs);
        return instances.update(session(), request);
      }),

    read: (request) =>
      guarded(() => {
        hide(request.inputs, request.outputs);
        // An import and a `.get()` carry an id that the state does not hold, or not yet.
        if (isRefresh(request)) session().state.observed(request.id, request.outputs);
        session().state.isRead(request.urn);
        return instances.read(session(), request);
      }),

    delete: (request) =>
      guarded(() => {
        hide(request.oldInputs, request.oldOutputs);
        session().state.observed(request.id, request.oldOutputs);
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

    cancel: (idle, engineGone) => {
      if (engineGone) current?.session.abandon();
      // With calls running it is Ctrl-C: their answers are lost if a second one ends the engine at once.
      if (idle && !cancellation.signal.aborted) current?.session.ledger.markDelivered();
      cancellation.abort(new Canceled());
    },
    renew: () => {
      if (!cancellation.signal.aborted) return;
      cancellation = new AbortController();
      sessionId = newSessionId();
      void current?.session.close();
      current = undefined;
    },
  };
}

const secondConfiguration =
  "this process already serves another configuration of the provider, and can't tell the calls of the two apart. With PULUMI_DEBUG_PROVIDERS give the program one provider, or don't attach";

/**
 * Turns whatever ends an operation early into one of the provider's own errors. After a request that may
 * have changed anything, the operation itself says what became of that.
 */
async function guarded<T>(operation: () => T | Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof RequestError) throw new OperationFailed(explain(error), { cause: error });
    if (error instanceof Canceled) throw new OperationCanceled();
    if (error instanceof TimedOut) {
      throw new OperationFailed(
        `timed out after ${error.seconds} s (customTimeouts) before anything was changed; it was waiting for another create of the same name, for the rate limit, or for an answer of the service`,
      );
    }
    throw error;
  }
}
