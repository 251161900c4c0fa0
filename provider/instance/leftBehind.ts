/** Names, at the end of a run, the instances that it has left running, or that its `up` will (G4, G5). */
import { bulleted } from "../advice";
import { logicalName } from "../urn";
import type { LeftBehind, Session } from "../session/session";
import { isBilled, lookBriefly } from "./existence";
import type { Instance } from "./instance";

/** Returns what is known of an instance that "retain" lets run, after a brief look. Undefined if it is gone. */
export async function leftOf(
  session: Session,
  instance: Instance,
  how: LeftBehind["how"],
): Promise<LeftBehind | undefined> {
  const found = await lookBriefly(session, instance);
  if (found === "absent") return undefined;
  const { id, urn } = instance;
  return { id, urn, isListed: found === "listed", isBilled: isBilled(session, instance), how };
}

/** Notes an instance that goes on running. The end of the run names it, or this call if the engine would not show it then. */
export async function leaveBehind(session: Session, left: LeftBehind): Promise<void> {
  session.leftBehind.set(left.id, left);
  if (!(await session.showsLastMessages())) reportLeftBehind(session);
}

/**
 * Notes in a preview that the new instance of a replacement would be made. A Diff alone leaves nothing behind: the engine may still
 * find that nothing changes, and in an `up` the create may fail.
 */
export async function leaveReplaced(session: Session, urn: string): Promise<void> {
  const replaced = session.replaced.get(urn);
  if (replaced) await leaveBehind(session, replaced);
}

/**
 * Names the instances that the run has left behind, or that its `up` will: those that are billed, each by its id, and the number
 * of the others, which cost nothing.
 */
export function reportLeftBehind({ leftBehind, ctx, hasRecordedSettings, run }: Session): void {
  const all = [...leftBehind.values()];
  leftBehind.clear();
  const { deletePolicy = "compute:deletePolicy" } = run.variables;
  const isRecorded = hasRecordedSettings && run.variables.deletePolicy === undefined;
  const from = isRecorded ? " in the settings that the last `pulumi up` recorded" : "";
  const report = (instances: readonly LeftBehind[], what: string) => {
    if (instances.length === 0) return;
    ctx.messages.warning([
      `instances ${what} (${deletePolicy} is "retain"${from}). They go on running, and are billed until they are removed at the service:`,
      ...bulleted(
        instances.map(({ id, urn, isListed }) => {
          const doubt = isListed ? "" : ", if it still exists";
          return `${id} (${logicalName(urn)})${doubt}`;
        }),
      ),
    ]);
  };
  const billed = all.filter(({ isBilled }) => isBilled);
  const dropped = billed.filter(({ how }) => how === "dropped");
  report(dropped, "were dropped from the state, not destroyed");
  report(
    billed.filter(({ how }) => how === "replaced"),
    "are replaced, and not destroyed",
  );
  const others = all.length - billed.length;
  const [are, stay] =
    others === 1 ? ["1 instance is", "stays"] : [`${others} instances are`, "stay"];
  if (others > 0)
    ctx.messages.info(
      `${are} not destroyed, but ${stay} in the sandbox until its lifetime is over`,
    );
}
