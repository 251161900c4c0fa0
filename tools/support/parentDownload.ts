/** Waits for the download of the Pulumi CLI's archive that tools/run.mjs begins while npm installs the packages. */
import { once } from "node:events";
import { say } from "./main";
import { createProgressBar } from "./progressBar";

/**
 * Resolves when tools/run.mjs has ended its download, even if the download failed, and at once if there is none. Never
 * rejects. The messages of tools/run.mjs are the share that has arrived, from 0 to 1. At the end it closes the channel.
 */
export async function parentDownload(): Promise<void> {
  if (!process.connected) return;
  say("Downloading the official Pulumi CLI …");
  const bar = createProgressBar();
  process.on("message", bar.show);
  await once(process, "disconnect");
  process.removeListener("message", bar.show);
  bar.end();
}
