/** The `Provider` of the process, which passes each request to the instance resource or the functions. */
import * as crypto from "node:crypto";
import { Canceled, isEnded, TimedOut } from "./abort";
import { explain, explicitProvider, isStateless, recordedSettingsAdvice } from "./advice";
import { RequestError } from "./api/errors";
import { checkConfig, resolveSettings, settingVariables } from "./config/configuration";
import type { ProviderContext } from "./context";
import { OperationCanceled, OperationFailed } from "./errors";
import { invoke, list } from "./functions/functions";
import { checkInstance } from "./instance/check";
import { userDataWarning } from "./instance/cloudInit";
import { createInstance } from "./instance/create";
import { deleteInstance, reportLeftBehind } from "./instance/delete";
import { diffInstance } from "./instance/diff";
import { heldBy, Instance, isUnfinished } from "./instance/instance";
import { reportInDoubt } from "./instance/inDoubt";
import { readInstance } from "./instance/read";
import { updateInstance } from "./instance/update";
import { inputsForState } from "./instance/userData";
import { secretStrings, type PropertyMap } from "./propertyValue";
import {
  isRefresh,
  type CancelReason,
  type CreateRequest,
  type DeleteRequest,
  type DiffRequest,
  type Kept,
  type Provider,
  type ReadRequest,
  type UpdateRequest,
} from "./requests";
import { Session } from "./session/session";

/** Creates the provider. It serves one configuration at a time, which is a `Session`. */
export function createProvider(ctx: ProviderContext): Provider {
  const { randomBytes = crypto.randomBytes } = ctx;
  /** What holds until another engine begins a run. */
  const newRun = () => ({
    cancellation: new AbortController(),
    sessionId: Buffer.from(randomBytes(6)).toString("hex"),
    /** The engine calls CheckConfig if the program runs, and not for settings from the state. */
    isProgramRun: false,
    session: undefined as Session | undefined,
    configurationKey: "",
  });
  let run = newRun();

  const hideSecrets = (values: object): Disposable => {
    const hidden = secretStrings(values).map((text) => ctx.redactor.hide(text));
    return { [Symbol.dispose]: () => hidden.forEach((text) => text[Symbol.dispose]()) };
  };

  /**
   * Hides the secrets of the request, runs the operation, and translates its errors. `advice`: what to add to an error that is
   * about settings. The operation may end the hiding.
   */
  const perform = async <T>(
    request: object,
    operation: (hidden: Disposable) => T | Promise<T>,
    advice = (): string | undefined => run.session?.settingsAdvice,
  ): Promise<T> => {
    try {
      return await operation(hideSecrets(request));
    } catch (error) {
      const own = ownError(error);
      const added = advice();
      const isFirst = () => run.session?.notices.isFirst("settings") ?? true;
      if (added === undefined || !isAboutSettings(own) || !isFirst()) throw own;
      throw new OperationFailed([...own.lines, added], { cause: error });
    }
  };

  /** Returns the call that performs an operation of the session. */
  const inSession =
    <R extends object, T>(operation: (session: Session, request: R) => T | Promise<T>) =>
    (request: R): Promise<T> =>
      perform(request, () => {
        const { session } = run;
        if (!session) {
          throw new OperationFailed("the compute provider was called before it was configured");
        }
        return operation(session, request);
      });

  /** The same for an instance of the state. */
  const ofState = <R extends DiffRequest | DeleteRequest, T>(
    operation: (session: Session, request: R) => Promise<T>,
  ) =>
    inSession((session, request: R) => {
      session.observe(heldBy(request));
      return operation(session, request);
    });

  /** Adds to the reply whether the next run is to begin with a Read of the instance. */
  const kept = <T extends { outputs: PropertyMap }>(
    { settings }: Session,
    response: T,
  ): Kept<T> => ({
    ...response,
    refreshBeforeUpdate: settings.refreshBeforeUpdate || isUnfinished(response.outputs),
  });

  const cancel = (reason: CancelReason): void => {
    const { session, cancellation } = run;
    // The creates that still run read this when they end.
    if (session && reason === "engineGone") session.hasEngine = false;
    else if (session) {
      reportLeftBehind(session);
      session.notices.reportFindings();
    }
    // After an interrupt, a second Ctrl-C may end the engine before it saves the replies. So `finished` then proves
    // nothing.
    if (session && reason === "finished") {
      if (!cancellation.signal.aborted) session.ledger.endInOrder();
      reportInDoubt(session);
      // What is left in doubt is free for the next run, even if this process serves it (PULUMI_DEBUG_PROVIDERS).
      void session.ledger.close();
    }
    cancellation.abort(new Canceled());
  };

  return {
    checkConfig: (request) => {
      run.isProgramRun = true;
      return perform(request, () => checkConfig(request.news, ctx));
    },

    configure: ({ urn, scope, args }) => {
      const variables = settingVariables(args, ctx.env);
      const isRecorded = !run.isProgramRun && !isStateless(urn);
      const configure = () => {
        const settings = resolveSettings(args, ctx, urn);
        // A token from a file may be replaced between two calls.
        const apiToken = settings.apiTokenFile ?? settings.apiToken;
        const configurationKey = JSON.stringify({ ...settings, apiToken, urn, scope });
        // With PULUMI_DEBUG_PROVIDERS, the engine configures all providers of the program in this one process.
        if (run.configurationKey === configurationKey) return;
        if (run.session) throw new OperationFailed(secondConfiguration);
        const { signal } = run.cancellation;
        run.session = new Session(settings, ctx, () => signal, {
          sessionId: run.sessionId,
          scope,
          stateless: isStateless(urn),
          providerUrn: explicitProvider(urn),
          isRecorded,
          variables,
        });
        run.configurationKey = configurationKey;
      };
      return perform({ args }, configure, () =>
        isRecorded ? recordedSettingsAdvice(variables) : undefined,
      );
    },

    check: (request) =>
      perform(request, async (hiddenRequest) => {
        const { urn, olds } = request;
        const { session } = run;
        session?.state.checkedSinceRead.add(urn);
        session?.state.registered.add(urn);
        const { findings, ...checked } = checkInstance(request, session ? session.run.scope : "");
        const hiddenInputs = hideSecrets(checked.inputs);
        if (checked.failures.length > 0) return checked;
        const warning = await userDataWarning(checked.inputs, olds);
        for (const finding of [...findings.map((line) => [line]), ...(warning ? [warning] : [])]) {
          if (session) session.notices.warnOfFinding(finding, urn);
          else ctx.messages.warning(finding, urn);
        }
        const inputs = session ? inputsForState(session, request, checked.inputs) : checked.inputs;
        if (inputs === checked.inputs) return checked;
        // The state is to hold a hash of the user data, so the text is hidden only for as long as the session keeps it.
        hideSecrets({ olds, inputs });
        hiddenInputs[Symbol.dispose]();
        hiddenRequest[Symbol.dispose]();
        return { ...checked, inputs };
      }),

    diff: ofState(diffInstance),
    create: inSession(async (session, request: CreateRequest) =>
      kept(session, await createInstance(session, request)),
    ),
    update: ofState(async (session, request: UpdateRequest) =>
      kept(session, { outputs: await updateInstance(session, request) }),
    ),
    delete: ofState(deleteInstance),
    read: inSession(async (session, request: ReadRequest) => {
      // In an import or a `.get()`, no outputs come from the state.
      if (isRefresh(request)) session.observe(new Instance(request));
      session.state.checkedSinceRead.delete(request.urn);
      const found = await readInstance(session, request);
      return found && kept(session, found);
    }),
    invoke: inSession(invoke),
    list: inSession(list),

    cancel,
    renew: () => {
      // The engine before was killed, or its version sends no Cancel: whether it has saved its state is not known.
      if (!run.cancellation.signal.aborted) cancel("engineGone");
      void run.session?.close();
      run = newRun();
    },
  };
}

const secondConfiguration =
  "this process already serves another configuration of the provider, and it can't tell the calls of the two configurations apart. Two providers of a program have two, and so have the recorded and the present settings of one after a change. Run without PULUMI_DEBUG_PROVIDERS";

/** Whether other settings may prevent this error, which is neither a time-out nor within the service. */
function isAboutSettings(error: unknown): error is OperationFailed {
  if (!(error instanceof OperationFailed) || error instanceof OperationCanceled) return false;
  const { cause, namesSettings } = error;
  if (namesSettings) return false;
  if (cause instanceof RequestError) return cause.kind !== "answered" || !cause.transient;
  return !isEnded(cause);
}

/**
 * Translates an error about a request, a cancel or a time-out into one of `errors.ts`. It mentions no instance: once a
 * request that may have changed something was sent, the operation itself reports the outcome.
 */
function ownError(error: unknown): unknown {
  if (error instanceof RequestError) return new OperationFailed(explain(error), { cause: error });
  if (error instanceof Canceled) return new OperationCanceled();
  if (error instanceof TimedOut) {
    const { message, pause, waitedFor, limit } = error;
    const waited = waitedFor === undefined ? "" : `; it was waiting for ${waitedFor}`;
    return new OperationFailed(
      pause
        ? `${message}. Nothing was changed. Run again after that time`
        : `timed out after ${limit} before anything was changed${waited}`,
      { cause: error },
    );
  }
  return error;
}
