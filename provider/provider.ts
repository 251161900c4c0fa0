/** The `Provider` of the process, which passes each request to the instance resource or the functions. */
import { Canceled, pauseLines, TimedOut } from "./abort";
import { requestReport } from "./advice";
import { RequestError } from "./api/requestError";
import { checkConfig } from "./config/configuration";
import type { ProviderContext } from "./context";
import {
  InstanceUnfinished,
  isReport,
  OperationCanceled,
  OperationFailed,
  Reported,
} from "./errors";
import { invoke, listInstances } from "./functions/functions";
import { checkInstance } from "./instance/check";
import { createInstance, repeatCreate } from "./create/create";
import { deleteInstance } from "./instance/delete";
import { diffInstance } from "./instance/diff";
import { heldBy, Instance, isUnfinished } from "./instance/instance";
import { sharedLook } from "./create/preview";
import { noteImport, readInstance } from "./instance/read";
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

  readonly configure: calls.Provider["configure"] = (request) =>
    this.#perform(request, () => this.#run.configure(request));

  readonly check: calls.Provider["check"] = (request) =>
    this.#perform(request, (hiddenRequest) => this.#check(request, hiddenRequest));

  readonly diff = this.#inSession("compared", (session, request: calls.DiffRequest) => {
    const occasion = session.engine.diff(request, heldBy(request));
    return onceLooked(session, request, () => diffInstance(session, request, occasion));
  });

  readonly create = this.#inSession("created", (session, request: calls.CreateRequest) => {
    const occasion = session.engine.change(request);
    if (occasion.is !== "preview") session.engine.hold(request.urn, notYetCreated);
    return succeeded(session, request, createInstance(session, request, occasion));
  });

  readonly update = this.#inSession("updated", (session, request: calls.UpdateRequest) => {
    const { id, urn } = request;
    const occasion = session.engine.change(request);
    // For a step that is skipped in an `up`, no Check and no Diff come.
    if (occasion.is === "preview") session.engine.hold(urn, heldBy(request));
    if (occasion.is === "repeat" && occasion.of === "create")
      return succeeded(session, request, repeatCreate(session, request, occasion.unfinished));
    const updated = onceLooked(session, request, async () => ({
      id,
      outputs: await updateInstance(session, request, occasion),
    }));
    return succeeded(session, request, updated);
  });

  readonly delete = this.#inSession("deleted", (session, request: calls.DeleteRequest) => {
    const occasion = session.engine.delete(request);
    return onceLooked(session, request, () => deleteInstance(session, request, occasion));
  });

  readonly read = this.#inSession("read", async (session, request: calls.ReadRequest) => {
    const found = await readInstance(session, request, session.engine.read(request));
    return found && withNextRead(session, found);
  });

  readonly invoke = this.#inSession("read", invoke);

  readonly list = this.#inSession("read", listInstances);

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
    const { session, engine, notices } = this.#run;
    const imported = engine.check(request);
    if (imported && session) noteImport(session, imported);
    const { findings, ...checked } = checkInstance(request, {
      scope: session ? session.options.scope : "",
      isNameTaken: (name) => engine.noteName(name, urn),
    });
    const hiddenInputs = this.#hideSecrets(checked.inputs);
    if (checked.failures.length > 0) return checked;
    const warning = await userDataWarning(checked.inputs, olds);
    if (warning) findings.push(warning);
    for (const finding of findings) notices.warnOfFinding(finding, urn);
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
   * Hides the secrets of the request, runs the operation, and translates its errors. `done`: what the operation does, for an error
   * that says that this was not done. The operation may end the hiding.
   */
  async #perform<T>(
    request: { urn?: string | undefined; id?: string; preview?: boolean },
    operation: (hidden: Disposable) => T | Promise<T>,
    done = "changed",
  ): Promise<T> {
    try {
      return await operation(this.#hideSecrets(request));
    } catch (error) {
      this.#run.noteFailure();
      const { id } = request;
      const own = asOurError(
        error,
        `${id === undefined ? "nothing was" : `instance ${id} was not`} ${done}`,
      );
      this.#shorten(own, request);
      throw own;
    }
  }

  /** Leaves out of an error what another instance of the run was told. */
  #shorten(
    error: unknown,
    { urn, preview }: { urn?: string | undefined; preview?: boolean },
  ): void {
    if (urn === undefined || !(error instanceof Reported) || !isReport(error.says)) return;
    // In an `up`, an error of a preview is of a step that is skipped, and reaches nobody. So only such errors refer to it.
    const reader = preview ? "preview" : "everybody";
    error.say(this.#run.notices.linesOf(error.says, urn, reader));
  }

  /** Returns the call that performs an operation of the session. `done`: as in `#perform`. */
  #inSession<R extends object, T>(
    done: string,
    operation: (session: Session, request: R) => T | Promise<T>,
  ): (request: R) => Promise<T> {
    return (request) =>
      this.#perform(request, () => operation(this.#run.needSession(), request), done);
  }
}

/** Performs a call about an instance of the state, after a look if that may end the doubt about its create. */
async function onceLooked<T>(
  session: Session,
  request: calls.DiffRequest | calls.DeleteRequest,
  operation: () => Promise<T>,
): Promise<T> {
  if (session.noteShown(heldBy(request))) await sharedLook(session);
  return await operation();
}

/** What a resource has until its Create is answered, also if the process of that Create dies. */
const notYetCreated = { id: "", isUnfinished: true };

/** Returns the reply to a Create or an Update, whose instance the Delete of the one that it replaces asks for. */
async function succeeded(
  session: Session,
  request: calls.CreateRequest | calls.UpdateRequest,
  response: Promise<calls.CreateResponse>,
): Promise<calls.StateReply<calls.CreateResponse>> {
  // A preview answers what an `up` would find, and finds nothing.
  if (request.preview) return withNextRead(session, await response);
  const { urn } = request;
  const note = (id: string, outputs: PropertyMap) => {
    const isAwaited = session.state.unfinished.has(id);
    session.engine.hold(urn, new Instance({ urn, id, inputs: outputs, outputs }), isAwaited);
  };
  try {
    const reply = await response;
    note(reply.id, reply.outputs);
    return withNextRead(session, reply);
  } catch (error) {
    if (error instanceof InstanceUnfinished) note(error.id, error.state.outputs);
    throw error;
  }
}

/** Adds to the reply whether the next run is to begin with a Read of the instance. */
function withNextRead<T extends { outputs: PropertyMap }>(
  { settings }: Session,
  response: T,
): calls.StateReply<T> {
  return {
    ...response,
    refreshBeforeUpdate: settings.refreshBeforeUpdate || isUnfinished(response.outputs),
  };
}

/**
 * Translates an error about a request, a cancel or a time-out into one of `errors.ts`: once a request that may have changed
 * something was sent, the operation itself reports the outcome. `own`: as in `Report`.
 */
function asOurError(error: unknown, own: string): unknown {
  if (error instanceof RequestError)
    return new OperationFailed(requestReport(own, error), { cause: error });
  if (error instanceof Canceled) return new OperationCanceled();
  if (!(error instanceof TimedOut)) return error;
  const { message, pause, failed, limit } = error;
  const shared = pause ? pauseLines(pause, limit) : [`: ${message}.`];
  const requests = failed ? [failed] : [];
  return new OperationFailed({ own, shared, requests }, { cause: error });
}
