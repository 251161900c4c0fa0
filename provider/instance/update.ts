/**
 * The Update call of an Instance: finishes a wait that ended too early, and records the inputs that a program asserts, and
 * user data as `compute:userDataInState` says.
 */
import { OperationFailed } from "../errors";
import { hasLeftProvisioning } from "../evidence/poller";
import { whyOpen } from "../evidence/why";
import { Unknown, type PropertyMap } from "../propertyValue";
import type { UpdateRequest } from "../requests";
import type { Session } from "../session/session";
import { changedInputs } from "./diff";
import { lookFor } from "./existence";
import { heldBy, type Instance } from "./instance";
import { readyInstance, waitUntilReady } from "./ready";

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
  const { asserted, restated } = changedInputs(before, news);
  if (asserted.length > 0) {
    session.ctx.messages.warning(
      `${asserted.join(", ")} of instance ${id} can't be read from the service, so the state records what the program says, unchecked`,
      urn,
    );
  }
  if (request.preview) {
    const foundByWait = { status: Unknown.value, ipv4: Unknown.value };
    const after = before.finished().with(before.isUnfinished ? foundByWait : {});
    return after.with(news).outputs;
  }
  const recorded = Object.fromEntries(
    [...asserted, ...restated].map((name) => [name, news[name] ?? null]),
  );
  const outputsOf = (after: Instance) => after.with(recorded).outputs;
  const isReady = !before.isUnfinished && before.status !== "PROVISIONING";
  // For the other form of the script, the service need not be asked.
  if (restated.length > 0 && asserted.length === 0 && isReady) return outputsOf(before.finished());

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
    return outputsOf(item ? before.seenAs(item, origin) : before.finished());
  }
  if (verdict.kind === "open" && verdict.why === "tenant") {
    throw new OperationFailed(`instance ${id} is not in the listing: ${whyOpen(verdict, session)}`);
  }
  // If the wait fails, the engine keeps the old inputs. An asserted input in the outputs would then look changed to the
  // next Diff, which would replace the instance. So what is recorded is added after the wait. Any listing counts, because
  // this session sent no POST for the instance.
  const wait = { instance: before.withInputs(news), origin, after: 0 };
  return outputsOf(
    item && hasLeftProvisioning(item)
      ? readyInstance(session, wait, item)
      : await waitUntilReady(session, wait, operation.signal),
  );
}
