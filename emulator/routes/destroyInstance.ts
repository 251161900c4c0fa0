/**
 * An extension, off unless `destroyPath` is set: "paths, methods and payloads of reboot, stop and
 * destroy: not shown". 204 when the instance is gone at once, 202 while it is still going; 404 for
 * one that isn't there or belongs to somebody else.
 */
import { notFound, type Answer } from "../http/answers";
import type { Service } from "../service";
import type { Caller } from "../tokens";

export function destroyInstance(service: Service, caller: Caller, id: string): Answer {
  const { clock, destroySeconds } = service.settings;
  const found = service.store.find(id, { tenant: caller.tenant, kind: caller.kind });
  if (found === undefined) throw notFound(`There is no instance ${id}.`);
  service.store.goneAt(id, clock.now() + destroySeconds * 1000);
  return destroySeconds > 0 ? { status: 202, json: { id } } : { status: 204 };
}
