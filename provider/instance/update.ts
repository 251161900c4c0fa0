/**
 * The Update call of an Instance: finishes a wait that ended too early, and records the inputs that a program asserts, and
 * those of which only the state changes.
 */
import { OperationFailed } from "../errors";
import { whyOpen } from "../evidence/why";
import { secretLike, Unknown, type PropertyMap } from "../propertyValue";
import type { UpdateRequest } from "../requests";
import type { Session } from "../session/session";
import type { InputName } from "./definition";
import { changedInputs } from "./diff";
import { lookFor } from "./existence";
import { heldBy, listedOutputs, type Instance } from "./instance";
import { waitUntilReady } from "./ready";

/**
 * Returns the new outputs.
 *
 * @throws InstanceUnfinished if the instance does not get ready. OperationFailed if it is gone or lives
 *   elsewhere, or if the token is refused or may be another tenant's. RequestError if a request fails before the
 *   wait begins. Canceled or TimedOut if the operation ends before the wait begins.
 */
export async function updateInstance(
  session: Session,
  request: UpdateRequest,
): Promise<PropertyMap> {
  const { urn, id, news } = request;
  const before = heldBy(request);
  const { asserted, recorded } = changedInputs(before, news);
  if (asserted.length > 0) {
    session.ctx.messages.warning(
      `${asserted.join(", ")} of instance ${id} can't be read from the service, so the state records what the program says, unchecked`,
      urn,
    );
  }
  const valueOf = (name: InputName) => {
    const value = news[name] ?? null;
    // The output is the name as the service shows it.
    return name === "name" ? (secretLike(value, before.name) ?? value) : value;
  };
  const valuesOf = (names: readonly InputName[]) =>
    Object.fromEntries(names.map((name) => [name, valueOf(name)]));
  const withChanges = (after: Instance) => after.with(valuesOf([...asserted, ...recorded])).outputs;
  if (request.preview) {
    const found = listedOutputs.filter((name) => name !== "name");
    const foundByWait = Object.fromEntries(found.map((name) => [name, Unknown.value]));
    const after = before.finished().with(before.isUnfinished ? foundByWait : {});
    return withChanges(after.with(news));
  }
  const isReady = !before.isUnfinished && before.status !== "PROVISIONING";
  // Then there is nothing to ask the service.
  if (recorded.length > 0 && asserted.length === 0 && isReady)
    return withChanges(before.finished());

  using operation = session.operationOf(request, "update");
  const { verdict, origin } = await lookFor(session, before, operation.signal);
  if (verdict.kind === "absent") {
    throw new OperationFailed(
      `instance ${id} no longer exists. Run \`pulumi refresh\`, and then \`pulumi up\` to create it anew`,
    );
  }
  const item = verdict.kind === "listed" ? verdict.items[0] : undefined;
  const status = item ? item.status : before.status;
  if (status !== "PROVISIONING" && !before.isUnfinished) {
    return withChanges(item ? before.seenAs(item, origin) : before.finished());
  }
  if (verdict.kind === "open" && verdict.why === "tenant") {
    throw new OperationFailed(`instance ${id} is not in the listing: ${whyOpen(verdict, session)}`);
  }
  // If the wait fails, the engine keeps the old inputs. An asserted input in the outputs would then look changed to the
  // next Diff, which would replace the instance. So the asserted inputs are added after the wait. Any listing counts, because
  // this session sent no POST for the instance.
  const instance = before.withInputs(news).with(valuesOf(recorded));
  const wait = { instance, origin, after: 0, listed: item };
  return withChanges(await waitUntilReady(session, wait, operation.signal));
}
