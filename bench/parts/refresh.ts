/** Counts the list requests of a refresh, over gRPC. */
import { pageLimit } from "../../provider/api/serviceConstants";
import { figure, type Figure } from "../figure";
import { inputsOf, startPlugin, urnOf } from "../plugin";
import { requestCounts, startService } from "../service";
import type { Tools } from "../tools";

/** The least possible number of requests is one for each page. */
export async function refresh(tools: Tools, quick: boolean): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const size of quick ? [300] : [300, 1000]) {
    const pages = Math.ceil(size / pageLimit.max);
    const counts = await listRequests(tools, size, quick ? 2 : 5);
    const what = `refresh of ${size} instances: list requests`;
    figures.push(figure(what, "requests", counts, `the ${pages} pages there are`, [pages]));
  }
  return figures;
}

/** Returns the count of each run, in which a new plugin reads what another created. */
async function listRequests(tools: Tools, size: number, runs: number): Promise<number[]> {
  await using service = await startService();
  await using creator = await startPlugin(tools.ours.executable);
  await creator.configure(service, { pollIntervalSeconds: 0.05 });
  const names = Array.from({ length: size }, (_, n) => `web-${n}`);
  const existing = await Promise.all(
    names.map(async (name) => {
      const [urn, inputs] = [urnOf(name), inputsOf(name)];
      return { urn, inputs, ...(await creator.client.create({ urn, inputs })) };
    }),
  );
  const counts: number[] = [];
  while (counts.length < runs) {
    await using plugin = await startPlugin(tools.ours.executable);
    await plugin.configure(service);
    await service.control.forgetRequests();
    const read = async (instance: (typeof existing)[number]) => {
      const found = await plugin.client.read(instance);
      if (found?.id !== instance.id) throw new Error(`${instance.id} was not found`);
    };
    await Promise.all(existing.map(read));
    counts.push((await requestCounts(service)).listings);
  }
  return counts;
}
