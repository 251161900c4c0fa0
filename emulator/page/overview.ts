/** Collects what the page shows of the emulator. */
import { tokenKindOf, type TokenKind } from "../../provider/api/contract";
import type { EmulatedService } from "../emulatedService";
import type { FaultKind } from "../faults/kinds";
import type { InstanceRecord } from "../instances/store";
import type { LoggedRequest } from "../requestLog";
import type { WindowUse } from "../rateLimit";

const maxInstances = 200;
const maxRequests = 100;

/** The state of the emulator at one moment, without tokens and bodies of requests. */
export interface Overview {
  /** The newest instances, newest first. */
  instances: ShownInstance[];
  /** How many instances exist now. */
  instanceCount: number;
  /** The latest requests, latest first. */
  requests: LoggedRequest[];
  /** What each token has used of the limit at each endpoint. Unused windows are left out. */
  windows: ShownWindow[];
  requestsPerMinute: number;
  /** The faults that can still apply to a request. */
  faults: ShownFault[];
}

/** The fields are those of `FaultHandle`. */
interface ShownFault {
  id: number;
  kind: FaultKind;
  label: string | undefined;
  hits: number;
}

interface ShownInstance extends Pick<
  InstanceRecord,
  "id" | "name" | "status" | "tokenKind" | "ipv4_public"
> {
  /** When it left PROVISIONING. If it has not, when it was created. ISO 8601, UTC. */
  since: string;
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
    requests: requestLog.all().slice(-maxRequests).reverse(),
    windows: describeWindows(state.rateLimiter.use()),
    requestsPerMinute: settings.requestsPerMinute,
    faults: faultScripts
      .all()
      .filter(({ isSpent }) => !isSpent)
      .map(({ id, kind, label, hits }) => ({ id, kind, label, hits })),
  };
}

function describeInstance(instance: InstanceRecord): ShownInstance {
  const { id, name, status, tokenKind, ipv4_public, created_at, ready_at } = instance;
  const since = status === "PROVISIONING" ? created_at : (ready_at ?? created_at);
  return { id, name, status, tokenKind, ipv4_public, since };
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
