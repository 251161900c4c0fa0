/** An instance as the emulator keeps it. */
import {
  instanceStatuses,
  type CreateBody,
  type InstanceStatus,
  type TokenKind,
} from "../../provider/api/contract";

export interface StoredNetwork {
  type: string;
  ipv4: string;
  mac_address: string;
}

/** What tests and the control endpoints see: everything, whichever tenant it belongs to. */
export interface InstanceRecord {
  id: string;
  name: string;
  /** One of the document's three, or whatever a fault or `setStatus` made of it. */
  status: string;
  tenant: string;
  tokenKind: TokenKind;
  ipv4_public: string;
  networks: StoredNetwork[];
  /** ISO 8601, UTC. */
  created_at: string;
  /** ISO 8601, UTC: when it leaves PROVISIONING, or left it; null if it never does. */
  ready_at: string | null;
  /** Body of the POST that made it; empty for an inserted one. */
  request: Partial<CreateBody>;
}

export function isDocumentedStatus(status: string): status is InstanceStatus {
  return (instanceStatuses as readonly string[]).includes(status);
}
