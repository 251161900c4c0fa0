/** The `Provider` of the process, which passes each request to the instance resource or the functions. */
import { Canceled, isEnded, TimedOut } from "./abort";
import { explain } from "./advice";
import { RequestError } from "./api/errors";
import { checkConfig } from "./config/configuration";
import type { ProviderContext } from "./context";
import { InstanceUnfinished, OperationCanceled, OperationFailed, Refused } from "./errors";
import { invoke, listInstances } from "./functions/functions";
import { checkInstance } from "./instance/check";
import { createInstance } from "./create/create";
import { deleteInstance } from "./instance/delete";
import { diffInstance } from "./instance/diff";
import { heldBy, Instance, isUnfinished } from "./instance/instance";
import { lookOnce } from "./create/preview";
import { readInstance } from "./instance/read";
import { updateInstance } from "./instance/update";
import { inputsForState, userDataWarning } from "./instance/userData";
import { secretStrings, type PropertyMap } from "./pulumi/propertyValue";
import type * as calls from "./pulumi/calls";
import { Run } from "./run";
import type { Session } from "./session/session";

/** Creates the provider of the process. It serves one run at a time. */
export function createProvider(ctx: ProviderContext): calls.Provider {
  return new ComputeProvider(ctx);
}

/** Hides the secrets of each request, performs it in the session of the run, and translates its errors. */
class ComputeProvider implements calls.Provider {
  readonly #ctx: ProviderContext;
  #run: Run;

  constructor(ctx: ProviderContext) {
    this.#ctx = ctx;
    this.#run = new Run(ctx);
  }

  readonly checkConfig: calls.Provider["checkConfig"] = (request) => {
    this.#run.engine.checkConfig(request.urn);
    return this.#perform(request, () => checkConfig(request.news, this.#ctx));
  };

  readonly configure: calls.Provider["configure"] = (request) => {
    const run = this.#run;
    const advice = () => run.adviceFor(request);
    return this.#perform({ args: request.args }, () => run.configure(request), advice);
  };

  readonly check: calls.Provider["check"] = (request) =>
    this.#perform(request, (hiddenRequest) => this.#check(request, hiddenRequest));

  readonly diff = this.#ofState((session, request: calls.DiffRequest) =>
    diffInstance(session, request, session.engine.diff(request, heldBy(request))),
  );

  readonly create = this.#inSession((session, request: calls.CreateRequest) => {
    const occasion = session.engine.change(request);
    return succeeded(session, request, createInstance(session, request, occasion));
  });

  readonly update = this.#ofState((session, request: calls.UpdateRequest) => {
    const { id } = request;
    const occasion = session.engine.change(request);
    const updated = updateInstance(session, request, occasion).then((outputs) => ({ id, outputs }));
    return succeeded(session, request, updated);
  });

  readonly delete = this.#ofState((session, request: calls.DeleteRequest) =>
    deleteInstance(session, request, session.engine.delete(request)),
  );

  readonly read = this.#inSession(async (session, request: calls.ReadRequest) => {
    const found = await readInstance(session, request, session.engine.read(request));
    return found && kept(session, found);
  });

  readonly invoke = this.#inSession(invoke);

  readonly list = this.#inSession(listInstances);

  readonly cancel: calls.Provider["cancel"] = (reason) => this.#run.cancel(reason);

  readonly renew = (): void => {
    this.#run.close();
    this.#run = new Run(this.#ctx);
  };

  /** `hiddenRequest`: the hiding of the request's secrets. */
  async #check(
    request: calls.CheckRequest,
    hiddenRequest: Disposable,
  ): Promise<calls.CheckResponse> {
    const { urn, olds } = request;
    const { session, engine } = this.#run;
    engine.check(request);
    const { findings, ...checked } = checkInstance(request, {
      scope: session ? session.run.scope : "",
      isNameTaken: (name) => engine.isNameTaken(name, urn),
    });
    const hiddenInputs = this.#hideSecrets(checked.inputs);
    if (checked.failures.length > 0) return checked;
    const warning = await userDataWarning(checked.inputs, olds);
    if (warning) findings.push(warning);
    for (const finding of findings) {
      if (session) session.notices.warnOfFinding(finding, urn);
      else this.#ctx.messages.warning(finding, urn);
    }
    const inputs = session ? inputsForState(session, request, checked.inputs) : checked.inputs;
    if (inputs === checked.inputs) return checked;
    // The state is to hold a hash of the user data, so the text is hidden only for as long as the session keeps it.
    this.#hideSecrets({ olds, inputs });
    hiddenInputs[Symbol.dispose]();
    hiddenRequest[Symbol.dispose]();
    return { ...checked, inputs };
  }

  #hideSecrets(values: object): Disposable {
    const hidden = secretStrings(values).map((text) => this.#ctx.redactor.hide(text));
    return { [Symbol.dispose]: () => hidden.forEach((text) => text[Symbol.dispose]()) };
  }

  /**
   * Hides the secrets of the request, runs the operation, and translates its errors. `advice`: what to add to an error that is
   * about settings. The operation may end the hiding.
   */
  async #perform<T>(
    request: object,
    operation: (hidden: Disposable) => T | Promise<T>,
    advice = (): string | undefined => this.#run.session?.settingsAdvice,
  ): Promise<T> {
    try {
      return await operation(this.#hideSecrets(request));
    } catch (error) {
      const own = this.#told(ownError(error));
      const added = advice();
      if (added === undefined || !isAboutSettings(own)) throw own;
      if (this.#run.session?.notices.markSaid("settings") === false) throw own;
      throw new OperationFailed([...own.lines, added], { cause: error });
    }
  }

  /** Returns what the engine is told: what is the same for several instances only once. */
  #told(error: unknown): unknown {
    const { session } = this.#run;
    if (!(error instanceof Refused) || !session) return error;
    const lines = session.notices.linesOf(error);
    const namesSettings = error.namesSettings || lines !== error.lines;
    return new OperationFailed(lines, { cause: error.cause, namesSettings });
  }

  /** Returns the call that performs an operation of the session. */
  #inSession<R extends object, T>(
    operation: (session: Session, request: R) => T | Promise<T>,
  ): (request: R) => Promise<T> {
    return (request) =>
      this.#perform(request, () => {
        const { session } = this.#run;
        if (!session) {
          throw new OperationFailed("the compute provider was called before it was configured");
        }
        return operation(session, request);
      });
  }

  /** The same for an instance of the state. */
  #ofState<R extends calls.DiffRequest | calls.DeleteRequest, T>(
    operation: (session: Session, request: R) => Promise<T>,
  ): (request: R) => Promise<T> {
    return this.#inSession(async (session, request: R) => {
      if (session.noteShown(heldBy(request))) await lookOnce(session);
      return await operation(session, request);
    });
  }
}

/** Returns the reply to a Create or an Update, whose instance the Delete of the one that it replaces asks for. */
async function succeeded(
  session: Session,
  request: calls.CreateRequest | calls.UpdateRequest,
  response: Promise<calls.CreateResponse>,
): Promise<calls.Kept<calls.CreateResponse>> {
  const { urn } = request;
  const note = (id: string, outputs: PropertyMap) =>
    session.engine.hold(urn, new Instance({ urn, id, inputs: outputs, outputs }));
  try {
    const reply = await response;
    note(reply.id, reply.outputs);
    return kept(session, reply);
  } catch (error) {
    if (error instanceof InstanceUnfinished) note(error.id, error.state.outputs);
    else if (!("id" in request)) session.engine.hold(urn, { id: "", isUnfinished: true });
    throw error;
  }
}

/** Adds to the reply whether the next run is to begin with a Read of the instance. */
function kept<T extends { outputs: PropertyMap }>(
  { settings }: Session,
  response: T,
): calls.Kept<T> {
  return {
    ...response,
    refreshBeforeUpdate: settings.refreshBeforeUpdate || isUnfinished(response.outputs),
  };
}

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
