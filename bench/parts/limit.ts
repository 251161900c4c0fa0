/**
 * More creates than the service's limit allows in a minute, which puts the last POSTs into the next one:
 * what is ACTIVE meanwhile is to be seen all the same. Takes 75 s, also with `--quick`.
 */
import { documentedRequestsPerMinute } from "../../provider/api/documented";
import type { PartResult } from "../figure";
import type { Tools } from "../tools";
import { figuresOf, wait } from "../wait";

const size = 1000;
const late = { against: "two seconds", ms: 2000 };

export async function limit(tools: Tools): Promise<PartResult> {
  const requestsPerMinute = documentedRequestsPerMinute;
  const once = await wait(tools, { size, provisioningSeconds: "9-11", requestsPerMinute });
  const what = `${size} instances within ${requestsPerMinute} requests a minute`;
  return { figures: figuresOf(what, { size, waits: [once], late }), missing: [] };
}
