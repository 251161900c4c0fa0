/** Sends the live updates of the page, as server-sent events. control/routes.ts uses this file. */
import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Overview } from "./overview";

/** The shortest time between two events. All changes within it are sent as one event. */
const intervalMs = 250;

/**
 * Sends the overview, and sends it again whenever it has changed, until the page closes the connection or the
 * emulator is closed. The overview is read at intervals, because an instance gets its next status by the clock alone,
 * without an event. The timer keeps no process alive.
 */
export async function sendOverviews(
  readOverview: () => Overview,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  let sent: string | undefined;
  // The socket of a response that has been sent or cut is destroyed or null.
  while (response.socket?.destroyed === false) {
    // A page that reads slowly skips overviews.
    const overview = response.writableNeedDrain ? sent : JSON.stringify(readOverview());
    if (overview !== sent) {
      // JSON has no line breaks outside of strings, and escapes those within strings.
      response.write(`data: ${overview}\n\n`);
      sent = overview;
    }
    await wait(intervalMs, undefined, { ref: false });
  }
}
