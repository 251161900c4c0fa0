/** Collects what the page shows of the emulator. */
import type { CreateBody } from "../../provider/api/contract";
import { tokenKindOf, type TokenKind } from "../../provider/api/serviceConstants";
import type { EmulatedService } from "../emulatedService";
import type { FaultHandle } from "../faults/script";
import type { InstanceRecord } from "../instances/store";
import type { LoggedRequest } from "../requestLog";
import type { WindowUse } from "../rateLimit";

const maxInstances = 200;
/** How many rows show creates, deletes and failures, and how many the reads between them, which may not push those away. */
const maxRows = { notable: 200, reads: 50 };

/** The state of the emulator at one moment, without tokens and user data. */
export interface Overview {
  /** The newest instances, newest first. */
  instances: ShownInstance[];
  /** How many instances exist now. */
  instanceCount: number;
  /** The latest requests, latest first. */
  requests: ShownRequest[];
  /** What each token has used of the limit at each endpoint. Unused windows are left out. */
  windows: ShownWindow[];
  requestsPerMinute: number;
  /** The faults that can still apply to a request, and those with a label that can't any more. */
  faults: ShownFault[];
}

/** The fields are those of `FaultHandle`. */
type ShownFault = Pick<FaultHandle, "id" | "kind" | "label" | "hits" | "isSpent" | "metBy">;

/** Equal requests, of which the fields show the latest. `id` is that of the oldest, so that it stays while more come. */
interface ShownRequest extends Pick<
  LoggedRequest,
  "id" | "method" | "path" | "query" | "at" | "name" | "status" | "faults"
> {
  count: number;
}

interface ShownInstance extends Pick<
  InstanceRecord,
  "id" | "name" | "status" | "tokenKind" | "ipv4_public"
> {
  /** When it left PROVISIONING. If it has not, when it was created. ISO 8601, UTC. */
  since: string;
  /** The body of the POST, in which `user_data` is replaced by its length. Empty if the instance was added by hand. */
  request: Partial<CreateBody>;
}

/** The token is shown as a number, in the order of the tokens' first requests. */
interface ShownWindow {
  endpoint: string;
  /** How many requests count now. */
  count: number;
  tokenKind: TokenKind | undefined;
  tokenNumber: number;
}

/** Returns the state now. Counts no request. */
export function overviewOf({
  state,
  settings,
  requestLog,
  faultScripts,
}: EmulatedService): Overview {
  return {
    instances: state.store.newest(maxInstances).map(describeInstance),
    instanceCount: state.store.count(),
    requests: foldRequests(requestLog.all()),
    windows: describeWindows(state.rateLimiter.use()),
    requestsPerMinute: settings.requestsPerMinute,
    faults: faultScripts
      .all()
      .filter(({ isSpent, label }) => !isSpent || label !== undefined)
      .map(describeFault),
  };
}

function describeInstance(instance: InstanceRecord): ShownInstance {
  const { id, name, status, tokenKind, ipv4_public, created_at, ready_at, request } = instance;
  const since = status === "PROVISIONING" ? created_at : (ready_at ?? created_at);
  const { user_data: script } = request;
  const bytes = script === undefined ? 0 : Buffer.from(script, "base64").length;
  const shown = script === undefined ? {} : { user_data: `${bytes} bytes, not shown` };
  return { id, name, status, tokenKind, ipv4_public, since, request: { ...request, ...shown } };
}

function describeFault({ id, kind, label, hits, isSpent, metBy }: FaultHandle): ShownFault {
  return { id, kind, label, hits, isSpent, metBy };
}

/** Makes one row of equal requests, unless another request than a read came between them. */
function foldRequests(requests: readonly LoggedRequest[]): ShownRequest[] {
  const rows: ShownRequest[] = [];
  const left = { ...maxRows };
  let foldable = new Map<string, ShownRequest>();
  for (let index = requests.length - 1; index >= 0; index--) {
    const request = requests[index];
    if (request === undefined) break;
    const { id, method, path, query, at, name, status, faults } = request;
    const key = [method, path, ...Object.entries(query), name, status, ...faults].join(" ");
    const known = foldable.get(key);
    if (method !== "GET") foldable = new Map();
    const row = known ?? { id, method, path, query, at, name, status, faults, count: 0 };
    foldable.set(key, row);
    row.id = id;
    row.count++;
    if (known) continue;
    const isRead = method === "GET" && status === 200 && faults.length === 0;
    if (left[isRead ? "reads" : "notable"]-- > 0) rows.push(row);
    if (left.reads <= 0 && left.notable <= 0) break;
  }
  return rows;
}

function describeWindows(windows: readonly WindowUse[]): ShownWindow[] {
  const tokens = [...new Set(windows.map(({ token }) => token))];
  return windows
    .filter(({ count }) => count > 0)
    .map(({ endpoint, token, count }) => ({
      endpoint,
      count,
      tokenKind: tokenKindOf(token),
      tokenNumber: tokens.indexOf(token) + 1,
    }));
}
