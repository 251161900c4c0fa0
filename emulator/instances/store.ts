/** Instances in SQLite. What time has done to a row is computed when it is read. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { CreateBody, TokenKind } from "../../provider/api/contract";
import type { EmulatorClock } from "../clock";
import { randomHex, type RandomSource } from "../random";
import { macAddress, privateIpv4, publicIpv4 } from "./addresses";
import type { InstanceRecord, StoredNetwork } from "./instance";

export interface Owner {
  tenant: string;
  kind: TokenKind;
}

export interface NewInstance extends Owner {
  id?: string | undefined;
  name: string;
  request: Partial<CreateBody>;
  /** Null: it never leaves PROVISIONING. */
  readyAt: number | null;
  endStatus: string;
  /** Lists show it from then on. */
  visibleAt: number;
  /** Null: it stays. */
  goneAt: number | null;
}

/** What a list shows of an instance. */
export type ListedInstance = Pick<InstanceRecord, "id" | "name" | "status" | "ipv4_public">;

interface Row {
  seq: number;
  id: string;
  tenant: string;
  kind: TokenKind;
  name: string;
  request: string;
  ipv4_public: string;
  networks: string;
  created_at: number;
  ready_at: number | null;
  status: string;
  shuffle: number;
}

const status = `CASE WHEN ready_at <= :now THEN end_status ELSE 'PROVISIONING' END`;
const columns = `seq, id, tenant, kind, name, request, ipv4_public, networks, created_at, ready_at,
  shuffle, ${status} AS status`;
const exists = `(gone_at IS NULL OR gone_at > :now)`;
/** After any time a clock may show, before SQLite's integers end. */
const never = 8.64e15;

export class Store {
  private readonly statements = new Map<string, StatementSync>();

  constructor(
    private readonly database: DatabaseSync,
    private readonly clock: EmulatorClock,
    private readonly random: RandomSource,
  ) {}

  add(instance: NewInstance): InstanceRecord {
    const { id = this.freeId(), name, tenant, kind } = instance;
    this.run("DELETE FROM instance WHERE id = :id AND gone_at <= :now", { id, now: this.now() });
    const { lastInsertRowid } = this.run(
      `INSERT INTO instance (id, tenant, kind, name, request, ipv4_public, networks, created_at,
         ready_at, end_status, visible_at, gone_at, shuffle)
       VALUES (:id, :tenant, :kind, :name, :request, '', '', :now, :ready, :end, :visible, :gone,
         :shuffle)`,
      {
        ...{ id, tenant, kind, name, now: this.now(), end: instance.endStatus },
        request: JSON.stringify(instance.request),
        ready: whole(instance.readyAt),
        visible: whole(instance.visibleAt),
        gone: whole(instance.goneAt),
        shuffle: Math.floor(this.random() * 2 ** 40),
      },
    );
    const seq = Number(lastInsertRowid);
    const networks: StoredNetwork[] = [
      { type: "private", ipv4: privateIpv4(seq), mac_address: macAddress(seq) },
    ];
    // Also when its lifetime is over by now.
    const sql = `UPDATE instance SET ipv4_public = :ipv4, networks = :networks WHERE seq = :seq
      RETURNING ${columns}`;
    const addresses = { ipv4: publicIpv4(seq), networks: JSON.stringify(networks) };
    const [added] = this.rows(sql, { seq, ...addresses, now: this.now() });
    if (added === undefined) throw new Error(`instance ${id} is not in the table`);
    return added;
  }

  /** An instance that exists, whoever owns it. */
  find(id: string, owner?: Owner): InstanceRecord | undefined {
    const sql = `SELECT ${columns} FROM instance WHERE id = :id AND ${exists}`;
    const found = this.rows(sql, { id, now: this.now() })[0];
    if (found === undefined || owner === undefined) return found;
    return found.tenant === owner.tenant && found.tokenKind === owner.kind ? found : undefined;
  }

  /** Whether there is such an instance, whoever owns it. */
  has(id: string): boolean {
    const sql = `SELECT 1 FROM instance WHERE id = :id AND ${exists}`;
    return this.statement(sql).get({ id, now: this.now() }) !== undefined;
  }

  all(): InstanceRecord[] {
    return this.rows(`SELECT ${columns} FROM instance WHERE ${exists} ORDER BY seq`, {
      now: this.now(),
    });
  }

  /** What a list may show its caller; see listing.ts for the order and the pages. */
  visible(
    owner: Owner,
    status_: string | undefined,
    orderAndLimit: string,
    more: Parameters = {},
  ): ListedInstance[] {
    const filter = status_ === undefined ? "" : `AND ${status} = :status`;
    const found = this.statement(
      `SELECT id, name, ${status} AS status, ipv4_public FROM instance WHERE tenant = :tenant AND kind = :kind AND ${exists}
         AND visible_at <= :now ${filter} ${orderAndLimit}`,
    ).all({ ...owner, now: this.now(), status: status_ ?? null, ...more });
    return found as unknown as ListedInstance[];
  }

  /** Where a listing goes on, also when that instance is gone by now. */
  position(id: string, owner: Owner): { seq: number; shuffle: number } | undefined {
    const row = this.statement(
      "SELECT seq, shuffle FROM instance WHERE id = :id AND tenant = :tenant AND kind = :kind",
    ).get({ id, ...owner });
    return row && { seq: Number(row["seq"]), shuffle: Number(row["shuffle"]) };
  }

  /** True when there was such an instance. An earlier end is not put off. */
  goneAt(id: string, at: number): boolean {
    return this.change(id, "gone_at = min(coalesce(gone_at, :at), :at)", { at: whole(at) });
  }

  rename(id: string, name: string): boolean {
    return this.change(id, "name = :name", { name });
  }

  /** From now on; PROVISIONING then lasts for ever. */
  setStatus(id: string, to: string): boolean {
    if (to === "PROVISIONING") return this.change(id, "ready_at = NULL", {});
    return this.change(id, "ready_at = :now, end_status = :to", { to });
  }

  /** Everything that would be done provisioning one day is done now. */
  settle(): void {
    this.run("UPDATE instance SET ready_at = :now WHERE ready_at > :now", { now: this.now() });
  }

  /** No instance is left, and the next one is the first again. */
  clear(): void {
    this.run("DELETE FROM instance", {});
    this.run("DELETE FROM sqlite_sequence", {});
  }

  close(): void {
    this.database.close();
  }

  private change(id: string, assignment: string, values: Parameters): boolean {
    const sql = `UPDATE instance SET ${assignment} WHERE id = :id AND ${exists}`;
    return Number(this.run(sql, { id, now: this.now(), ...values }).changes) > 0;
  }

  private freeId(): string {
    for (;;) {
      const id = `i-${randomHex(this.random, 16)}`;
      if (!this.statement("SELECT 1 FROM instance WHERE id = :id").get({ id })) return id;
    }
  }

  private now(): number {
    return Math.floor(this.clock.now());
  }

  private run(sql: string, values: Parameters) {
    return this.statement(sql).run(values);
  }

  private rows(sql: string, values: Parameters): InstanceRecord[] {
    // SQLite's STRICT table vouches for the types of the columns.
    return (this.statement(sql).all(values) as unknown as Row[]).map(record);
  }

  private statement(sql: string): StatementSync {
    let statement = this.statements.get(sql);
    if (statement === undefined) {
      statement = this.database.prepare(sql);
      statement.setAllowUnknownNamedParameters(true);
      this.statements.set(sql, statement);
    }
    return statement;
  }
}

type Parameters = Record<string, SQLInputValue>;

function whole(time: number | null): number | null {
  return time === null ? null : Math.min(Math.round(time), never);
}

function record(row: Row): InstanceRecord {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    tenant: row.tenant,
    tokenKind: row.kind,
    ipv4_public: row.ipv4_public,
    networks: JSON.parse(row.networks) as StoredNetwork[],
    created_at: new Date(row.created_at).toISOString(),
    ready_at: row.ready_at === null ? null : new Date(row.ready_at).toISOString(),
    request: JSON.parse(row.request) as Partial<CreateBody>,
  };
}
