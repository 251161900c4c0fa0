/**
 * "States and transitions": a new instance is in PROVISIONING. How it goes on is not shown; here it
 * becomes ACTIVE (or OFFLINE) after a settable time, and a sandbox one ends with its lifetime.
 */
import type { CreateBody } from "../../provider/api/contract";
import type { Settings } from "../options";
import { between } from "../random";
import type { NewInstance, Owner } from "./store";

/** What faults do to the instance that a POST makes. */
export interface InstanceEffects {
  neverLeavesProvisioning?: boolean;
  /** Any text, to show a status the document does not know. */
  endsAs?: string;
  /** Lists leave it out until then. */
  appearsAfterSeconds?: number;
}

export function plan(
  settings: Settings,
  owner: Owner,
  body: CreateBody,
  effects: InstanceEffects,
): NewInstance {
  const now = settings.clock.now();
  const { name } = body;
  const { endStatus } = settings;
  return {
    ...owner,
    name,
    request: body,
    readyAt: effects.neverLeavesProvisioning
      ? null
      : now + provisioningSeconds(settings, name) * 1000,
    endStatus: effects.endsAs ?? (typeof endStatus === "function" ? endStatus(name) : endStatus),
    visibleAt: now + (effects.appearsAfterSeconds ?? 0) * 1000,
    goneAt: lifetimeEnd(settings, owner),
  };
}

/** "Resources are ephemeral" with a sandbox token; production ones stay. */
export function lifetimeEnd(settings: Settings, owner: Owner): number | null {
  if (owner.kind === "live") return null;
  return settings.clock.now() + settings.sandboxLifetimeSeconds * 1000;
}

function provisioningSeconds(settings: Settings, name: string): number {
  const { provisioningSeconds: time, random } = settings;
  if (typeof time === "function") return time(name);
  return typeof time === "number" ? time : between(random, time[0], time[1]);
}
