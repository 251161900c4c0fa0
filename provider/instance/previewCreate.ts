/**
 * The Create call in a preview: it asks what the `up` will ask, with one listing that all previews share and without making a
 * file, so that a pull request shows what the `up` will refuse (G10). If the service can't be reached, it says nothing.
 */
import type { CreateRequest } from "../calls";
import { hasUnknown } from "../propertyValue";
import type { Session } from "../session/session";
import { argsOf, claimOf, lookAt, specOf } from "./createSpec";
import {
  anotherRunNotice,
  failureError,
  perhapsStoppedNotice,
  reportLeftovers,
  resumedNotice,
} from "./messages";
import { preview, type Look } from "./protocol";
import { lacksText } from "./userData";

/** The longest wait for the listing. A preview is to be quick, and the `up` asks again. */
const lookSeconds = 10;

/** @throws OperationFailed if the `up` would refuse the create */
export async function previewCreate(session: Session, request: CreateRequest): Promise<void> {
  const { urn, inputs } = request;
  const { ledger, run, ctx, connection, creates } = session;
  if (run.stateless) return;
  creates.previewed.add(urn);
  const look = await lookOnce(session);
  if (!look) return;
  const isProgramKnown = !hasUnknown(inputs) && !lacksText(session, inputs);
  const args = isProgramKnown ? argsOf(session, inputs) : undefined;
  const spec = specOf(session, { urn, inputs, origin: connection.place() }, args);
  const file = ledger.find(urn);
  const claim = file && claimOf(session, file);
  const found = preview({ spec, claim, look, isProgramKnown });
  switch (found.kind) {
    case "refused":
      throw failureError(found.failure, spec, session);
    case "resumed":
      return ctx.messages.info(resumedNotice(found.id), urn);
    case "anotherRun":
      return ctx.messages.warning(anotherRunNotice(found.record), urn);
    case "leftovers":
      return reportLeftovers(session, found, spec);
    case "perhapsStopped":
      return ctx.messages.warning(perhapsStoppedNotice(found.items, spec), urn);
    case "clean":
  }
}

/** Returns what a shared listing shows. Undefined if there is none within the time. After a failure, none is asked for again. */
export async function lookOnce(session: Session): Promise<Look | undefined> {
  if (session.hasLookFailed) return undefined;
  const { listings, ctx } = session;
  using operation = session.operation(lookSeconds);
  try {
    return lookAt(session, await listings.get(listings.recent(), operation.signal));
  } catch (error) {
    session.hasLookFailed = true;
    ctx.messages.debug(`the instances could not be listed: ${String(error)}`);
    return undefined;
  }
}
