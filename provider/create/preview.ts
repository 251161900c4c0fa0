/**
 * The Create call in a preview: it asks what the `up` will ask, with one listing that all previews share and without making a
 * file, so that a pull request shows what the `up` will refuse (G10).
 */
import { TimedOut } from "../abort";
import { nextStep } from "../advice";
import { RequestError } from "../api/requestError";
import { attempt } from "../attempt";
import type { CreateRequest } from "../pulumi/calls";
import { hasUnknown, isGiven } from "../pulumi/propertyValue";
import type { Session } from "../session/session";
import { argsOf, claimOf, lookOf, specOf } from "./spec";
import { briefly } from "../instance/existence";
import {
  anotherRunReport,
  failureError,
  perhapsStoppedReport,
  reportLeftovers,
  resumedReport,
} from "./reports";
import { preview, type Look } from "./protocol";

/** @throws OperationFailed if the `up` would refuse the create */
export async function previewCreate(session: Session, request: CreateRequest): Promise<void> {
  const { urn, inputs } = request;
  const { ledger, engine, notices, connection } = session;
  if (engine.kind === "stateless") return;
  const look = await sharedLook(session);
  if (!look) return warnOfFailedLook(session);
  // A step that is skipped (`Skip` in step.go) has had no Check, which would have filled in the name.
  if (!isGiven(inputs["name"])) return;
  const args = hasUnknown(inputs) ? undefined : attempt(() => argsOf(engine, inputs));
  const spec = specOf(session, { urn, inputs, origin: connection.origin() }, args);
  const file = ledger.find(urn);
  const claim = file && claimOf(session, file);
  const found = preview({ spec, claim, look, isProgramKnown: args !== undefined });
  // What is said here, the end of the run (`inDoubt.ts`) does not say again. But the error of a step that is skipped reaches nobody.
  if (!engine.isActing)
    engine.resource(urn).isDoubtSaid = !["clean", "leftovers"].includes(found.kind);
  switch (found.kind) {
    case "refused":
      throw failureError(found.failure, spec, session);
    case "resumed":
      return notices.tell("info", resumedReport(found.id), urn);
    case "anotherRun":
      return notices.tell("warning", anotherRunReport(found.record), urn);
    case "leftovers":
      return reportLeftovers(session, found, spec);
    case "perhapsStopped":
      return notices.tell("warning", perhapsStoppedReport(found.items, spec, session), urn);
    case "clean":
  }
}

/** Warns once of a request that has failed, and that the `up` will send, too. What is wrong within the service may be over by then. */
function warnOfFailedLook({ failedLook, notices, ctx }: Session): void {
  const error = failedLook instanceof TimedOut ? failedLook.failed : failedLook;
  if (!(error instanceof RequestError) || !error.isAboutSettings) return;
  const finding = `\`pulumi up\` will fail unless this is mended: ${error.message}.`;
  if (notices.markSaid("failed look")) ctx.messages.warning([finding, nextStep(error)]);
}

/** Returns what a shared listing shows. Undefined if none comes soon: no caller depends on it. */
export function sharedLook(session: Session): Promise<Look | undefined> {
  return briefly(session, async (operation) => lookOf(session, await session.list(operation)));
}
