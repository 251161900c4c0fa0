/** Measures creates over gRPC, whose instances become ready after 9 to 11 s (4 to 6 s with --quick). */
import { documentedRequestsPerMinute, pageLimit } from "../../provider/api/serviceConstants";
import { figure, median, takeTurns, type Figure } from "../figure";
import { inputsOf, startPlugin, urnOf } from "../plugin";
import { noLimit, requestCounts, startService } from "../emulatorProcess";
import type { Tools } from "../tools";

interface Wait {
  /** From the first call of Create to the last answer. */
  wallSeconds: number;
  /** From the first call until the last instance was ready at the service. No provider can be quicker. */
  limitSeconds: number;
  listings: number;
  /** The median, from the moment an instance was ready to the answer of its create. */
  latenessMs: number;
}

async function createAndWait(
  tools: Tools,
  size: number,
  provisioningSeconds: string,
  requestsPerMinute = noLimit,
  takesMessages = true,
): Promise<Wait> {
  await using service = await startService({
    "provisioning-seconds": provisioningSeconds,
    "requests-per-minute": requestsPerMinute,
  });
  await using plugin = await startPlugin(tools.ours.executable, takesMessages);
  await plugin.configure(service, { requestsPerMinute });

  const start = Date.now();
  const names = Array.from({ length: size }, (_, n) => `web-${n}`);
  const created = await Promise.all(
    names.map(async (name) => {
      const { id } = await plugin.client.create({ urn: urnOf(name), inputs: inputsOf(name) });
      return { id, answeredAt: Date.now() };
    }),
  );
  const end = Date.now();

  const instances = await service.control.instances();
  const readyAt = new Map(instances.map(({ id, ready_at }) => [id, Date.parse(ready_at ?? "")]));
  const { listings } = await requestCounts(service);
  return {
    wallSeconds: (end - start) / 1000,
    limitSeconds: (Math.max(...readyAt.values()) - start) / 1000,
    listings,
    latenessMs: median(created.map(({ id, answeredAt }) => answeredAt - (readyAt.get(id) ?? NaN))),
  };
}

export async function waiting(tools: Tools, quick: boolean): Promise<Figure[]> {
  const sizes = quick ? [1, 100] : [1, 10, 100, 300, 1000];
  const provisioningSeconds = quick ? "4-6" : "9-11";
  const bySize = Object.fromEntries(
    sizes.map((size) => [size, () => createAndWait(tools, size, provisioningSeconds)]),
  );
  const largest = Math.max(...sizes);
  const silent = () => createAndWait(tools, largest, provisioningSeconds, noLimit, false);
  const contestants = { ...bySize, silent };
  const samples: Record<string, Wait[]> = await takeTurns(quick ? 1 : 3, contestants, {
    warm: false,
  });
  const times = (name: string | number) =>
    (samples[name] ?? []).map(({ wallSeconds }) => wallSeconds);
  return [
    ...sizes.map((size) =>
      totalTime(`${size} ${size === 1 ? "instance" : "instances"} at once`, samples[size] ?? []),
    ),
    figure(
      `${largest} instances at once, with all messages to the engine, one of them for each request`,
      "s",
      times(largest),
      "without any message",
      times("silent"),
    ),
  ];
}

/**
 * More requests than the service allows in a minute, so that the last POSTs are sent in the next one. The creates of
 * ACTIVE instances must end soon nevertheless. Takes 75 s, even with `--quick`.
 */
export async function limit(tools: Tools): Promise<Figure[]> {
  const size = 1000;
  const requestsPerMinute = documentedRequestsPerMinute;
  const what = `${size} instances within ${requestsPerMinute} requests a minute`;
  const wait = await createAndWait(tools, size, "9-11", requestsPerMinute);
  const pages = Math.ceil(size / pageLimit.max);
  const perSecond = [wait.listings / wait.wallSeconds];
  const listings = `${what}: list requests per second of waiting`;
  const lateness = `${what}: from ACTIVE at the service to the answer, median`;
  return [
    totalTime(what, [wait]),
    figure(listings, "requests/s", perSecond, `one listing a second of ${pages} pages`, [pages]),
    figure(lateness, "ms", [wait.latenessMs], "two seconds", [2000]),
  ];
}

function totalTime(what: string, waits: readonly Wait[]): Figure {
  const ours = waits.map(({ wallSeconds }) => wallSeconds);
  const theirs = waits.map(({ limitSeconds }) => limitSeconds);
  const against = "the slowest instance's own time";
  return figure(`${what}: until all are created`, "s", ours, against, theirs);
}
