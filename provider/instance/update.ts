/**
 * The Update call of an Instance: finishes a wait that ended too early, and records the inputs that a program asserts, and
 * those of which only the state changes.
 */
import { InstanceUnfinished, OperationFailed } from "../errors";
import type { Verdict } from "../evidence/witness";
import { secretLike, Unknown, type PropertyMap } from "../pulumi/propertyValue";
import type { UpdateRequest } from "../pulumi/calls";
import type { ChangeOccasion } from "../engine";
import type { Session } from "../session/session";
import { isScript, type InputName } from "./definition";
import { changedInputs } from "./diff";
import { askAbout } from "./existence";
import { heldBy, listedInputs, listedOutputs, type Instance } from "./instance";
import { noNetworksNotice } from "./address";
import { succeedOrThrow, unfinishedError, waitUntilReady } from "./ready";

/**
 * Decides what an Update does. It waits if the instance is unfinished in the state, or if the listing or else the state has it as
 * PROVISIONING.
 */
export function decideUpdate(
  { isUnfinished, status }: Pick<Instance, "isUnfinished" | "status">,
  verdict: Verdict,
): "refuse" | "take" | "wait" {
  if (verdict.kind === "absent") return "refuse";
  const latest = verdict.kind === "listed" ? verdict.items[0].status : status;
  return isUnfinished || latest === "PROVISIONING" ? "wait" : "take";
}

/**
 * Returns the new outputs.
 *
 * @throws InstanceUnfinished if the instance does not get ready, as `succeedOrThrow` does. OperationFailed if it is gone or lives
 *   elsewhere. RequestError if a request fails before the wait begins. Canceled or TimedOut if the operation ends before the wait begins.
 */
export async function updateInstance(
  session: Session,
  request: UpdateRequest,
  occasion: ChangeOccasion,
): Promise<PropertyMap> {
  const { urn, news } = request;
  const before = heldBy(request);
  const { asserted, recorded } = changedInputs(before, news);
  if (asserted.length > 0) {
    const names = asserted.join(", ");
    const own = `the state records ${names} as the program says, unchecked`;
    const shared = [", because the service shows no such input.", noNetworksNotice];
    session.notices.warnOfFinding({ own, shared }, urn);
  }
  const valueOf = (name: InputName) => {
    const value = news[name] ?? (isScript(name) ? undefined : null);
    // The output is the name as the service shows it.
    return name === "name" ? (secretLike(value, before.name) ?? value) : value;
  };
  const valuesOf = (names: readonly InputName[]) =>
    Object.fromEntries(names.map((name) => [name, valueOf(name)]));
  const withChanges = (after: Instance) => after.with(valuesOf([...asserted, ...recorded])).outputs;
  if (occasion.is === "preview") {
    const found = listedOutputs.filter((name) => !listedInputs.includes(name));
    const foundByWait = Object.fromEntries(found.map((name) => [name, Unknown.value]));
    const after = before.finished().with(before.isUnfinished ? foundByWait : {});
    return withChanges(after.with({ ...news, name: valueOf("name") }));
  }
  const isReady = !before.isUnfinished && before.status !== "PROVISIONING";
  // Then there is nothing to ask the service.
  if (asserted.length === 0 && isReady) return withChanges(before.finished());

  // After a failed Update, the state has the old inputs. An asserted input in the outputs would then look changed to the next
  // Diff, which would replace the instance. So the asserted inputs are added after the wait.
  const instance = before.withInputs(news).with(valuesOf(recorded));
  try {
    return withChanges(await finishWait(session, request, instance));
  } catch (error) {
    // After an answer with outputs, a plain error would lose them.
    const hasAnswered = occasion.is === "repeat" && occasion.wasUnfinished;
    if (!(error instanceof InstanceUnfinished) && !hasAnswered) throw error;
    return withChanges(
      succeedOrThrow(session, unfinishedError(session, error, instance), instance),
    );
  }
}

/** Looks for the instance, and waits until it is ready if it was not. */
async function finishWait(
  session: Session,
  request: UpdateRequest,
  instance: Instance,
): Promise<Instance> {
  using operation = session.operations.of(request, "update");
  const { verdict, origin } = await askAbout(session, instance, operation);
  const { id } = instance;
  const listed = verdict.kind === "listed" ? verdict.items[0] : undefined;
  switch (decideUpdate(instance, verdict)) {
    case "refuse":
      throw new OperationFailed(
        `instance ${id} no longer exists. Run \`pulumi refresh\`, and then \`pulumi up\` to create it anew`,
      );
    case "take":
      return listed ? instance.seenAs(listed, origin) : instance.finished();
    case "wait":
      // Any listing counts, because this session sent no POST for the instance.
      return await waitUntilReady(session, { instance, origin, after: 0, listed }, operation);
  }
}
