/**
 * Creates and the wait for their instances: the time beyond the slowest instance's own, the list requests,
 * and how long after "ACTIVE at the service" each Create returns.
 */
import { pageLimit } from "../provider/api/serviceConstants";
import { figure, type Figure } from "./figure";
import { inputsOf, Plugin, urnOf } from "./plugin";
import { countsOf, startService } from "./service";
import { median } from "./statistics";
import type { Tools } from "./tools";

interface Wait {
  /** From the first call to the last answer. */
  wallSeconds: number;
  /** From the first call until the service had the last instance ready: nobody can be quicker. */
  limitSeconds: number;
  listings: number;
  /** From ready at the service to the answer, of each instance. */
  latenessMs: number;
}

/** Creates so many at once, and waits for all of them. */
export async function wait(
  tools: Tools,
  options: { size: number; provisioningSeconds: string; requestsPerMinute?: number },
): Promise<Wait> {
  const { size, ...serviceOptions } = options;
  await using service = await startService(serviceOptions);
  await using plugin = await Plugin.start(tools.ours.executable);
  const { requestsPerMinute } = options;
  await plugin.configure(service, requestsPerMinute === undefined ? {} : { requestsPerMinute });

  const start = Date.now();
  const names = Array.from({ length: size }, (_, n) => `web-${n}`);
  const returned = await Promise.all(
    names.map(async (name) => {
      const { id } = await plugin.client.create({ urn: urnOf(name), inputs: inputsOf(name) });
      return [id, Date.now()] as const;
    }),
  );
  const end = Date.now();

  const instances = await service.control.instances();
  const readyAt = new Map(instances.map(({ id, ready_at }) => [id, Date.parse(ready_at ?? "")]));
  const { listings } = await countsOf(service);
  return {
    wallSeconds: (end - start) / 1000,
    limitSeconds: (Math.max(...readyAt.values()) - start) / 1000,
    listings,
    latenessMs: median(returned.map(([id, at]) => at - (readyAt.get(id) ?? NaN))),
  };
}

/** `late` is what the time from ACTIVE to the answer is held against. */
export function figuresOf(
  what: string,
  {
    size,
    waits,
    late,
  }: { size: number; waits: readonly Wait[]; late: { against: string; ms: number } },
): Figure[] {
  const pages = Math.ceil(size / pageLimit.max);
  return [
    figure({
      what: `${what}: until all are created`,
      unit: "s",
      ours: waits.map(({ wallSeconds }) => wallSeconds),
      against: "the slowest instance's own time",
      theirs: waits.map(({ limitSeconds }) => limitSeconds),
    }),
    figure({
      what: `${what}: list requests per second of waiting`,
      unit: "requests/s",
      ours: waits.map(({ listings, wallSeconds }) => listings / wallSeconds),
      against: `one look a second at ${pages} ${pages === 1 ? "page" : "pages"}`,
      theirs: [pages],
    }),
    figure({
      what: `${what}: from ACTIVE at the service to the answer, median`,
      unit: "ms",
      ours: waits.map(({ latenessMs }) => latenessMs),
      against: late.against,
      theirs: [late.ms],
      aim: 1,
    }),
  ];
}
