/** Names, at the end of a run, the instances that "retain" (`compute:deletePolicy`) lets run, or that its `up` will let run (G4, G5). */
import { bulleted } from "../advice";
import { logicalName } from "../pulumi/urn";
import type { Session } from "../session/session";
import { briefly, isBilled, lookFor, type Wanted } from "./existence";

/**
 * Notes an instance that "retain" lets run, after a brief look. The end of the run names the instance, or this call if the engine
 * would not show it then. Returns whether the instance may still run.
 */
export async function noteRetained(
  session: Session,
  instance: Wanted & { readonly urn: string },
): Promise<boolean> {
  const found = await briefly(session, (operation) => lookFor(session, instance, operation));
  if (found?.verdict.kind === "absent") return false;
  const { id, urn } = instance;
  const isListed = found?.verdict.kind === "listed";
  session.retained.set(id, { id, urn, isListed, isBilled: isBilled(session, instance) });
  if (!(await session.showsLastMessages())) reportRetained(session);
  return true;
}

/**
 * Notes in a preview that the new instance of a replacement would be made. A Diff alone retains nothing: the engine may still find
 * that nothing changes, and in an `up` the create may fail.
 */
export async function retainReplaced(session: Session, urn: string): Promise<void> {
  const old = session.engine.resource(urn).before;
  if (!old || session.settings.deletePolicy !== "retain") return;
  const { id, origin, acceptedAt } = old;
  await noteRetained(session, { urn, id, origin, acceptedAt });
}

/** Names the retained instances that are billed, each by its id, and the number of the others, which cost nothing. */
export function reportRetained({ retained, ctx, engine, run }: Session): void {
  const all = [...retained.values()];
  retained.clear();
  const { deletePolicy = "compute:deletePolicy" } = run.variables;
  const isRecorded = engine.kind === "recorded" && run.variables.deletePolicy === undefined;
  const from = isRecorded ? " in the settings that the last `pulumi up` recorded" : "";
  const billed = all.filter(({ isBilled }) => isBilled);
  const lines = billed.map(
    ({ id, urn, isListed }) =>
      `${id} (${logicalName(urn)})${isListed ? "" : ", if it still exists"}`,
  );
  if (billed.length > 0)
    ctx.messages.warning([
      `these instances are not destroyed (${deletePolicy} is "retain"${from}). They go on running, and are billed until they are removed at the service:`,
      ...bulleted(lines),
    ]);
  const others = all.length - billed.length;
  if (others > 0)
    ctx.messages.info(
      `${others} ${others === 1 ? "instance is" : "instances are"} not destroyed (in the sandbox until its lifetime is over)`,
    );
}
