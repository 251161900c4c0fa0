/** Measures the memory that the plugin needs for many creates at once, beside providers that answer at once without a service. */
import { say } from "../../tools/support/main";
import { startService, type EmulatorProcess } from "../emulatorProcess";
import { figure, takeTurns, type Figure } from "../figure";
import { inputsOf, startPlugin, urnOf } from "../plugin";
import { goPeer, stockPeer, type Tools } from "../tools";

/** Only Linux says how much memory a running process has had at most. */
export async function memory(tools: Tools, quick: boolean): Promise<Figure[]> {
  if (process.platform !== "linux") {
    say("The peak of the memory is not measured, because this is not Linux.");
    return [];
  }
  const figures: Figure[] = [];
  for (const count of [200, 1000]) {
    const contestants = {
      ours: () => peakOfOurs(tools, count, quick ? "4-6" : "9-11"),
      go: () => peakOf(tools.go, count),
      stock: () => peakOf(tools.stock, count),
    };
    const peaks = await takeTurns(quick ? 1 : 3, contestants, { warm: false });
    const what = `peak memory of ${count} creates at once`;
    figures.push(
      figure(what, "MB", peaks.ours, goPeer, peaks.go),
      figure(what, "MB", peaks.ours, stockPeer, peaks.stock),
    );
  }
  return figures;
}

async function peakOfOurs({ ours }: Tools, count: number, provisioningSeconds: string) {
  await using service = await startService({ "provisioning-seconds": provisioningSeconds });
  return await peakOf(ours, count, service);
}

async function peakOf(
  { executable }: { executable: string },
  count: number,
  service?: EmulatorProcess,
): Promise<number> {
  await using plugin = await startPlugin(executable);
  if (service) await plugin.configure(service);
  const names = Array.from({ length: count }, (_, n) => `web-${n}`);
  await Promise.all(
    names.map((name) => plugin.client.create({ urn: urnOf(name), inputs: inputsOf(name) })),
  );
  return plugin.peakMemoryMB();
}
