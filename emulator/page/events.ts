import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Overview } from "./overview";

/** The shortest time between two events. All changes within it are sent as one event. */
const intervalMs = 250;

/**
 * Sends the overview as a server-sent event whenever it has changed, until the connection or the emulator is closed. It is
 * read at intervals, because an instance gets its next status by the clock alone.
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
      // The end of an event: JSON has no line breaks of its own, and escapes those in strings.
      response.write(`data: ${overview}\n\n`);
      sent = overview;
    }
    await wait(intervalMs, undefined, { ref: false });
  }
}
