/** The provider: hands each request to the resource or function that it is for. */
import * as crypto from "node:crypto";
import { Canceled, TimedOut } from "./abort";
import { explain, explicitProvider } from "./advice";
import { RequestError } from "./api/errors";
import { checkConfig, hideToken, resolveSettings } from "./config/configuration";
import type { ProviderContext } from "./context";
import { OperationCanceled, OperationFailed } from "./errors";
import { invoke, list } from "./functions/functions";
import { instanceResource } from "./instance";
import { secretTexts, type PropertyValue } from "./propertyValue";
import { isRefresh, type Provider, type Scope } from "./requests";
import { Session } from "./session/session";

/** The provider of one process. It serves one configuration at a time, as a `Session`. */
export function createProvider(ctx: ProviderContext): Provider {
  const { randomBytes = crypto.randomBytes } = ctx;
  const newSessionId = () => Buffer.from(randomBytes(6)).toString("hex");
  let cancellation = new AbortController();
  let sessionId = newSessionId();
  let current: { session: Session; configured: string; scope: Scope } | undefined;

  const session = (): Session => {
    if (!current) {
      throw new OperationFailed("the compute provider was called before it was configured");
    }
    return current.session;
  };

  /** Redacts the secrets in these values from now on. */
  const hideSecrets = (values: object): void => {
    for (const value of Object.values(values) as PropertyValue[]) {
      for (const text of secretTexts(value)) ctx.redactor.hide(text);
    }
  };

  /** Runs an operation once the secrets of its request are hidden, and translates its errors. */
  const perform = async <T>(request: object, operation: () => T | Promise<T>): Promise<T> => {
    try {
      hideSecrets(request);
      return await operation();
    } catch (error) {
      throw ownError(error);
    }
  };

  return {
    checkConfig: (request) =>
      perform(request, () => {
        hideToken(ctx, request.news);
        return checkConfig(request.news, ctx.env);
      }),

    configure: (request) =>
      perform(request, () => {
        hideToken(ctx, request.args);
        const settings = resolveSettings(request.args, ctx.env);
        const { urn, scope } = request;
        const configured = JSON.stringify({ settings, urn, scope });
        if (current) {
          // In attach mode, one process serves whatever provider the engine configures.
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
      perform(request, () => {
        current?.session.state.beginUpdate(request.urn);
        const checked = instanceResource.check(request, current?.scope ?? { kind: "none" });
        hideSecrets(checked.inputs);
        return checked;
      }),

    diff: (request) =>
      perform(request, () => {
        session().state.observe(request.id, request.oldOutputs);
        return instanceResource.diff(session(), request);
      }),

    create: (request) => perform(request, () => instanceResource.create(session(), request)),

    update: (request) =>
      perform(request, () => {
        session().state.observe(request.id, request.oldOutputs);
        return instanceResource.update(session(), request);
      }),

    read: (request) =>
      perform(request, () => {
        // An import and a `.get()` come with an id that the state does not hold, or not yet.
        if (isRefresh(request)) session().state.observe(request.id, request.outputs);
        session().state.beginRefresh(request.urn);
        return instanceResource.read(session(), request);
      }),

    delete: (request) =>
      perform(request, () => {
        session().state.observe(request.id, request.oldOutputs);
        return instanceResource.delete(session(), request);
      }),

    invoke: (request) => perform(request, () => invoke(session(), request)),
    list: (request) => perform(request, () => list(session(), request)),

    cancel: (isOrderly, isEngineGone) => {
      if (current && isEngineGone) current.session.hasEngine = false;
      // With calls running, Cancel is Ctrl-C. A second Ctrl-C ends the engine before it saves their answers.
      if (isOrderly && !cancellation.signal.aborted) current?.session.ledger.markDelivered();
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
 * The error that ends an operation, as one of the provider's own. It says nothing of an instance: once a
 * request that may have changed anything is sent, the operation itself says what became of that.
 */
function ownError(error: unknown): unknown {
  if (error instanceof RequestError) return new OperationFailed(explain(error), { cause: error });
  if (error instanceof Canceled) return new OperationCanceled();
  if (error instanceof TimedOut) {
    return new OperationFailed(
      `timed out after ${error.seconds} s (customTimeouts) before anything was changed; it was waiting for another create of the same name, for the rate limit, or for an answer of the service`,
    );
  }
  return error;
}
