/** Notes the instances that "retain" (`compute:deletePolicy`) lets run, or that the `up` of a preview will let run (G4, G5). */
import type { Session } from "../session/session";
import { briefly, isBilled, askAbout, type Wanted } from "./existence";

/** Notes an instance that "retain" lets run, after a brief look. Returns whether it may still run. `isOfProgram`: as in `Retained`. */
export async function noteRetained(
  session: Session,
  instance: Wanted & { readonly urn: string },
  isOfProgram?: boolean,
): Promise<boolean> {
  const found = await briefly(session, (operation) => askAbout(session, instance, operation));
  if (found?.verdict.kind === "absent") return false;
  const { id, urn } = instance;
  const isListed = found?.verdict.kind === "listed";
  const facts = { isListed, isBilled: isBilled(session, instance), isOfProgram };
  await session.retained.note({ id, urn, ...facts });
  return true;
}

/**
 * Notes in the preview of a replacement's create the old instance, which the `up` lets run. A Diff alone retains nothing: the engine
 * may still find that nothing changes, and in an `up` the create may fail.
 */
export async function retainReplaced(session: Session, urn: string): Promise<void> {
  const old = session.engine.resource(urn).before;
  if (!old || session.settings.deletePolicy !== "retain") return;
  const { id, origin, acceptedAt } = old;
  await noteRetained(session, { urn, id, origin, acceptedAt });
}
