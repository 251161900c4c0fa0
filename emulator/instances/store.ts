/** The instances, in SQLite. Whether one is ready or gone is computed from its timestamps at each read. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { CreateBody } from "../../provider/api/contract";
import type { TokenKind } from "../../provider/api/serviceConstants";
import type { EmulatorClock } from "../clock";
import type { ListedInstance } from "../http/response";
import type { ListOrder, StatusBetween } from "../options";
import { randomHex, shuffle, type RandomSource } from "../random";
import type { Owner } from "../tokens";
import { macAddress, privateIpv4, publicIpv4, publicIpv4In, type Net } from "./addresses";

/** An instance as the control API shows it. */
export interface InstanceRecord extends ListedInstance {
  tenant: string;
  tokenKind: TokenKind;
  networks: StoredNetwork[];
  /** ISO 8601, UTC. */
  created_at: string;
  /** When it leaves PROVISIONING, or its status was last set: ISO 8601, UTC. Null if it stays PROVISIONING. */
  ready_at: string | null;
  /** The body of the POST. Empty for an inserted instance. */
  request: Partial<CreateBody>;
}

interface StoredNetwork {
  type: string;
  ipv4: string;
  mac_address: string;
}

/** An instance to be stored. Times are milliseconds since 1970, and null means never. */
export interface NewInstance {
  owner: Owner;
  /** The default is a random id. */
  id?: string | undefined;
  name: string;
  request: Partial<CreateBody>;
  readyAt: number | null;
  /** The status from `readyAt` on. */
  endStatus: string;
  /** When listings begin to show it. */
  visibleAt: number;
  goneAt: number | null;
}

/** Which instances a listing asks for. */
export interface PageQuery {
  owner: Owner;
  status: string | undefined;
  limit: number;
  order: ListOrder;
  /** Whether there is a cursor parameter. Then each listing has the same shuffled order, so that pages show everything. */
  hasCursor: boolean;
  /** The cursor: the last id of the previous page. */
  after: string | undefined;
  /** How many instances to leave out first. */
  skip: number;
}

/** One page of a listing. */
export interface Page {
  instances: ListedInstance[];
  hasMore: boolean;
}

/** An instance as SQLite returns it (`columns`). */
interface Row extends ListedInstance {
  tenant: string;
  kind: TokenKind;
  /** As JSON, like `request`. */
  networks: string;
  request: string;
  /** In milliseconds since 1970, like `ready_at`. */
  created_at: number;
  ready_at: number | null;
}

/** How the statuses and the address of an instance follow each other once it has left PROVISIONING. */
export interface Transitions {
  statusesBetween: readonly StatusBetween[];
  /** The time from the end status until the address is listed. 0 shows the address from the start. */
  addressSeconds: number;
  addressBefore: string;
}

const existsCondition = `(gone_at IS NULL OR gone_at > :now)`;
const ownedCondition = `tenant = :tenant AND kind = :kind`;

const orders = {
  oldest: { following: "seq > :seq", sorting: "seq" },
  newest: { following: "seq < :seq", sorting: "seq DESC" },
  shuffled: { following: "(shuffle, seq) > (:shuffle, :seq)", sorting: "shuffle, seq" },
} as const;

/** Returns what SQL computes of an instance, and how long after `ready_at` it changes no more. */
function columnsOf({ statusesBetween, addressSeconds, addressBefore }: Transitions) {
  let betweenMs = 0;
  const between = statusesBetween.map(({ status, seconds }) => {
    betweenMs += Math.round(seconds * 1000);
    return `WHEN ready_at + ${betweenMs} > :now THEN '${status}'`;
  });
  const settlesInMs = betweenMs + Math.round(addressSeconds * 1000);
  const status = `CASE WHEN ready_at IS NULL OR ready_at > :now THEN 'PROVISIONING' ${between.join(" ")} ELSE end_status END`;
  const before = addressBefore.replaceAll("'", "''");
  const lateAddress = `CASE WHEN ready_at IS NULL OR ready_at + ${settlesInMs} > :now THEN '${before}' ELSE ipv4_public END AS ipv4_public`;
  const address = addressSeconds === 0 ? "ipv4_public" : lateAddress;
  /** What a listing shows. */
  const listedColumns = `id, name, ${status} AS status, ${address}`;
  const columns = `${listedColumns}, tenant, kind, request, networks, created_at, ready_at`;
  return { status, listedColumns, columns, settlesInMs };
}

/** A time that no clock reaches, within SQLite's integers. */
const latestTimeMs = 8.64e15;

type Parameters = Record<string, SQLInputValue>;

/** All instances of one emulator. */
export class InstanceStore {
  readonly #database: DatabaseSync;
  readonly #clock: EmulatorClock;
  readonly #random: RandomSource;
  readonly #publicNet: Net | undefined;
  readonly #sql: ReturnType<typeof columnsOf>;
  readonly #statements = new Map<string, StatementSync>();

  constructor(
    database: DatabaseSync,
    clock: EmulatorClock,
    random: RandomSource,
    publicNet: Net | undefined,
    transitions: Transitions,
  ) {
    this.#sql = columnsOf(transitions);
    this.#publicNet = publicNet;
    this.#database = database;
    this.#clock = clock;
    this.#random = random;
  }

  /**
   * The id of an instance that is gone may be used again.
   * @throws if an existing instance has this id, or if the database lost the row, which is a defect
   */
  add(instance: NewInstance): InstanceRecord {
    const { id = this.#freeId(), name, owner } = instance;
    this.#run("DELETE FROM instance WHERE id = :id AND gone_at <= :now", { id });
    const { lastInsertRowid } = this.#run(
      `INSERT INTO instance (id, tenant, kind, name, request, ipv4_public, networks, created_at,
         ready_at, end_status, visible_at, gone_at, shuffle)
       VALUES (:id, :tenant, :kind, :name, :request, '', '', :now, :ready, :end, :visible, :gone,
         :shuffle)`,
      {
        id,
        ...owner,
        name,
        end: instance.endStatus,
        request: JSON.stringify(instance.request),
        ready: storedTime(instance.readyAt),
        visible: storedTime(instance.visibleAt),
        gone: storedTime(instance.goneAt),
        shuffle: Math.floor(this.#random() * 2 ** 40),
      },
    );
    const seq = Number(lastInsertRowid);
    const networks: StoredNetwork[] = [
      { type: "private", ipv4: privateIpv4(seq), mac_address: macAddress(seq) },
    ];
    const sql = `UPDATE instance SET ipv4_public = :ipv4, networks = :networks WHERE seq = :seq
      RETURNING ${this.#sql.columns}`;
    const net = this.#publicNet;
    const ipv4 = net ? publicIpv4In(net, seq) : publicIpv4(seq);
    const addresses = { ipv4, networks: JSON.stringify(networks) };
    const [added] = this.#records(sql, { seq, ...addresses });
    if (added === undefined) throw new Error(`instance ${id} is not in the table`);
    return added;
  }

  /** Returns the instance with this id, unless it belongs to another owner than `owner`. */
  find(id: string, owner?: Owner): InstanceRecord | undefined {
    const filter = owner === undefined ? "" : `AND ${ownedCondition}`;
    const sql = `SELECT ${this.#sql.columns} FROM instance WHERE id = :id AND ${existsCondition} ${filter}`;
    return this.#records(sql, { id, ...owner })[0];
  }

  /** Whether an instance of this owner has this name. */
  hasName(name: string, owner: Owner): boolean {
    const sql = `SELECT 1 FROM instance WHERE name = :name AND ${ownedCondition} AND ${existsCondition}`;
    return this.#prepare(sql).get({ name, ...owner, now: this.#now() }) !== undefined;
  }

  /** A `readyAt` after which the instance changes no more. */
  longReady(): number {
    return this.#now() - this.#sql.settlesInMs;
  }

  has(id: string): boolean {
    const sql = `SELECT 1 FROM instance WHERE id = :id AND ${existsCondition}`;
    return this.#prepare(sql).get({ id, now: this.#now() }) !== undefined;
  }

  all(): InstanceRecord[] {
    return this.#records(
      `SELECT ${this.#sql.columns} FROM instance WHERE ${existsCondition} ORDER BY seq`,
    );
  }

  newest(limit: number): InstanceRecord[] {
    const sql = `SELECT ${this.#sql.columns} FROM instance WHERE ${existsCondition} ORDER BY seq DESC LIMIT :limit`;
    return this.#records(sql, { limit });
  }

  count(): number {
    const sql = `SELECT count(*) AS n FROM instance WHERE ${existsCondition}`;
    const [row] = this.#all(sql, {}) as { n: number }[];
    return row?.n ?? 0;
  }

  /** Returns a page, or undefined if `after` is not the id of an instance of this owner, existing or gone. */
  page({ owner, status, limit, order, hasCursor, after, skip }: PageQuery): Page | undefined {
    const filters = [ownedCondition, existsCondition, "visible_at <= :now"];
    if (status !== undefined) filters.push(`${this.#sql.status} = :status`);
    const { following, sorting } = orders[order];
    const position = after === undefined ? {} : this.#position(after, owner);
    if (position === undefined) return undefined;
    if (after !== undefined) filters.push(following);
    const isReshuffled = order === "shuffled" && !hasCursor;
    const orderAndLimit = isReshuffled
      ? "ORDER BY seq"
      : `ORDER BY ${sorting} LIMIT :limit OFFSET :skip`;
    const found = this.#all(
      `SELECT ${this.#sql.listedColumns} FROM instance WHERE ${filters.join(" AND ")} ${orderAndLimit}`,
      { ...owner, ...position, status: status ?? null, limit: limit + 1, skip },
    ) as ListedInstance[];
    const instances = isReshuffled ? shuffle(this.#random, found) : found;
    return { instances: instances.slice(0, limit), hasMore: instances.length > limit };
  }

  /** The position of an instance in each order, even if it is gone. */
  #position(id: string, owner: Owner): { seq: number; shuffle: number } | undefined {
    const sql = `SELECT seq, shuffle FROM instance WHERE id = :id AND ${ownedCondition}`;
    const [row] = this.#all(sql, { id, ...owner }) as { seq: number; shuffle: number }[];
    return row;
  }

  /** Keeps an earlier time. As `rename` and `setStatus`, returns false if no instance has this id. */
  setGoneAt(id: string, at: number): boolean {
    return this.#update(id, "gone_at = min(coalesce(gone_at, :at), :at)", { at: storedTime(at) });
  }

  rename(id: string, name: string): boolean {
    return this.#update(id, "name = :name", { name });
  }

  setStatus(id: string, status: string): boolean {
    if (status === "PROVISIONING") return this.#update(id, "ready_at = NULL", {});
    const ready = this.longReady();
    return this.#update(id, "ready_at = :ready, end_status = :status", { status, ready });
  }

  finishProvisioning(): void {
    const ready = this.longReady();
    this.#run("UPDATE instance SET ready_at = :ready WHERE ready_at > :now", { ready });
  }

  /** The next instance has `seq` 1 again. */
  clear(): void {
    this.#run("DELETE FROM instance", {});
    this.#run("DELETE FROM sqlite_sequence", {});
  }

  close(): void {
    this.#database.close();
  }

  #update(id: string, assignment: string, values: Parameters): boolean {
    const sql = `UPDATE instance SET ${assignment} WHERE id = :id AND ${existsCondition}`;
    return Number(this.#run(sql, { id, ...values }).changes) > 0;
  }

  #freeId(): string {
    for (;;) {
      const id = `i-${randomHex(this.#random, 16)}`;
      if (!this.#prepare("SELECT 1 FROM instance WHERE id = :id").get({ id })) return id;
    }
  }

  #now(): number {
    return Math.floor(this.#clock.now());
  }

  #run(sql: string, values: Parameters) {
    return this.#prepare(sql).run({ now: this.#now(), ...values });
  }

  /** The STRICT table guarantees the types of the columns, so callers may cast the rows. */
  #all(sql: string, values: Parameters): unknown {
    return this.#prepare(sql).all({ now: this.#now(), ...values });
  }

  #records(sql: string, values: Parameters = {}): InstanceRecord[] {
    return (this.#all(sql, values) as Row[]).map(({ kind, ...row }) => ({
      ...row,
      tokenKind: kind,
      networks: JSON.parse(row.networks) as StoredNetwork[],
      created_at: new Date(row.created_at).toISOString(),
      ready_at: row.ready_at === null ? null : new Date(row.ready_at).toISOString(),
      request: JSON.parse(row.request) as Partial<CreateBody>,
    }));
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      // Callers pass `now`, `status` and `limit` even to statements that do not use them.
      statement.setAllowUnknownNamedParameters(true);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

function storedTime(timeMs: number | null): number | null {
  return timeMs === null ? null : Math.min(Math.round(timeMs), latestTimeMs);
}
