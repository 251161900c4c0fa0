/**
 * The instances that `probe` makes in the sandbox, watches and destroys. It makes none with a token that is not a test token, and
 * destroys none that may be another's.
 */
import { randomBytes } from "node:crypto";
import { deadline, grace } from "../../provider/abort";
import type { DestroyPath } from "../../provider/api/client";
import type { CreateBody, ListItem } from "../../provider/api/contract";
import { RequestError } from "../../provider/api/errors";
import { OperationFailed } from "../../provider/errors";
import { isNamed, see, witnessOf } from "../../provider/evidence/witness";
import type {
  Answer,
  CreateFact,
  DestroyTry,
  Made,
  OrderFact,
  SameNameFact,
  Sighting,
} from "./facts";
import { refusalOf, whyOpen, type Asking, type Look, type Steps } from "./steps";

/** What an instance is made of. */
export type SandboxIds = Pick<CreateBody, "flavor_id" | "image_id" | "vpc_id">;

/** The names of all instances begin so. */
export const namePrefix = "probe-";

/** The paths that are tried. In each, the last segment is the id. */
const destroyPaths: readonly DestroyPath[] = [
  "/v2/instances/{id}",
  "/v2/instances/destroy/{id}",
  "/v2/servers/{id}",
];

/** For how long, after an interrupt, the answer to a POST is awaited, and what was made is destroyed. */
const lateAnswerMs = 10_000;
const cleanUpSeconds = 20;
/** How many listings have to agree on an order. */
const orderLooks = 4;

/** An instance of this run, and when the service had accepted it, in clock time. */
interface Owned {
  readonly made: Made;
  readonly acceptedAt: number;
}

/** What the sandbox is made with. */
interface Parts {
  readonly steps: Steps;
  readonly ids: SandboxIds;
  /** Aborted by Ctrl-C. */
  readonly ended: AbortSignal;
  /** Tells the person. */
  readonly note: (line: string) => void;
}

/** The instances of one run. */
export class Sandbox {
  readonly #parts: Parts;
  readonly #owned: Owned[] = [];
  /** What was listed before the first POST. */
  #before: Look | undefined;
  /** The names of POSTs whose outcome is not known. */
  readonly #unclear = new Set<string>();
  readonly #destroyed = new Set<string>();
  /** The path that destroys. */
  #path: DestroyPath | undefined;
  /** Whether there is no call to try in the end. */
  #isDestroyAsked = false;
  readonly #order = { oldestFirst: 0, newestFirst: 0 };

  /** @throws Error if the token is not a test token */
  constructor(parts: Parts) {
    this.#parts = parts;
    if (this.#session.settings.tokenKind !== "test")
      throw new Error("only a test token may create instances");
  }

  get #session() {
    return this.#parts.steps.session;
  }

  /** How long something is waited for: longer than a create does, to see what it would miss. In milliseconds. */
  get #patienceMs(): number {
    return 2 * this.#session.settings.settlingMs;
  }

  /** The ids of the instances that nothing has destroyed. */
  get left(): string[] {
    return this.#owned.map(({ made }) => made.id).filter((id) => !this.#destroyed.has(id));
  }

  /** Makes the first instance. */
  async create(asking: Asking): Promise<CreateFact> {
    this.#before = await asking.look();
    return await this.#make(asking, newName());
  }

  /** Waits until the first instance is ACTIVE with an address, or changes no more. Notes in the sighting why it ended before. */
  async wait(asking: Asking, { id, sighting }: Made): Promise<void> {
    const patienceMs = this.#patienceMs;
    const isReady = ({ addressAt, statuses }: Sighting) =>
      addressAt !== undefined && statuses.at(-1)?.status === "ACTIVE";
    try {
      for (let changedAt = asking.now(), changes = 0; !isReady(sighting); await asking.pause()) {
        this.#see(await asking.look());
        const { statuses } = sighting;
        if (statuses.length > changes) {
          changes = statuses.length;
          changedAt = asking.now();
        }
        const status = statuses.at(-1)?.status;
        const isOver = asking.now() - changedAt >= patienceMs && status !== "PROVISIONING";
        if (isReady(sighting) || !isOver) continue;
        const address = sighting.addressAt === undefined ? "without an address" : "with an address";
        const rest = `${Math.round(patienceMs / 1000)} s`;
        sighting.why = status
          ? `${id} has stayed ${status}, ${address}, for ${rest}`
          : `no listing has shown ${id} within ${rest}`;
        return;
      }
    } catch (error) {
      sighting.why = whyOpen(error);
    }
  }

  /** Makes another instance of the first one's name or, if that is refused, of another name, so that there are two. */
  async sameName(asking: Asking, first: Made): Promise<SameNameFact> {
    const outcome = await this.#make(asking, first.sentName);
    if (outcome.kind === "made") {
      await this.#untilListed(asking, outcome.made);
      return { kind: "another" };
    }
    const other = await this.#make(asking, newName()).catch((error: unknown) => whyOpen(error));
    if (typeof other === "object" && other.kind === "made")
      await this.#untilListed(asking, other.made);
    return outcome.kind === "refused" ? outcome : { kind: "same" };
  }

  /** Looks in which order listings show the first two instances. */
  async order(asking: Asking): Promise<OrderFact> {
    for (let looks = 0; looks < orderLooks; looks++) this.#see(await asking.look());
    const { oldestFirst, newestFirst } = this.#order;
    if (oldestFirst + newestFirst < orderLooks)
      throw new OperationFailed(["too few listings have shown two instances"]);
    return { oldestFirst, newestFirst };
  }

  /** Finds the destroy call: with an id that no instance has, then with an instance of this run. */
  async destroy(asking: Asking, configured: string | undefined): Promise<readonly DestroyTry[]> {
    const tries: DestroyTry[] = [];
    this.#claim((await asking.look()).items.values());
    const [own] = this.left;
    if (own === undefined) throw new OperationFailed(["it takes an instance, and none was made"]);
    const paths = isDestroyPath(configured) ? [configured, ...destroyPaths] : destroyPaths;
    for (const path of new Set(paths)) {
      const stranger = await asking.destroy(path, `${newName()}-no-such-id`);
      if (isForbidden(stranger)) {
        tries.push({ path, stranger });
        continue;
      }
      const answer = await asking.destroy(path, own);
      const mayBeGone = answer.kind === "answered" || answer.refusal.mayHaveActed;
      const goneAfter = mayBeGone ? await this.#untilGone(asking, own) : undefined;
      tries.push({ path, stranger, own: answer, ...(goneAfter !== undefined && { goneAfter }) });
      if (goneAfter === undefined) continue;
      this.#path = path;
      this.#noteDestroyed(own);
      for (const id of this.left)
        if ((await asking.destroy(path, id)).kind === "answered") this.#noteDestroyed(id);
      break;
    }
    this.#isDestroyAsked = true;
    return tries;
  }

  /** Sends DELETE for what is left if the destroy call was not looked for yet. Never fails, prints nothing, and ends soon. */
  async cleanUp(): Promise<void> {
    const { steps } = this.#parts;
    if (this.#isDestroyAsked || this.#owned.length + this.#unclear.size === 0) return;
    const never = new AbortController().signal;
    using ending = deadline(this.#session.ctx.clock, cleanUpSeconds, never);
    const { signal } = ending;
    const ignore = () => undefined;
    if (this.#unclear.size > 0)
      this.#claim((await steps.api.listBy({ limit: "100" }, signal).catch(ignore))?.items ?? []);
    const paths = this.#path ? [this.#path] : destroyPaths;
    const destroy = async (id: string) => {
      for (const path of paths)
        if ((await steps.api.destroyAt(path, id, signal).catch(ignore)) !== undefined) return;
    };
    await Promise.all(this.left.map(destroy));
  }

  /** Sends a POST until the service has decided about it. @throws RequestError if nothing was made, or if that is not clear */
  async #make(asking: Asking, name: string): Promise<CreateFact> {
    const { ended, ids } = this.#parts;
    for (;;) {
      const begunAt = asking.now();
      // The answer also counts after Ctrl-C: without its id, the instance could not be destroyed.
      using late = grace(this.#session.ctx.clock, lateAnswerMs, ended);
      this.#unclear.add(name);
      const outcome = await asking.post({ name, ...ids }, late.signal);
      if (outcome.kind !== "unclear") this.#unclear.delete(name);
      if (outcome.kind === "rateLimited") continue;
      const postMs = asking.now() - begunAt;
      if (outcome.kind === "accepted") {
        const { accepted } = outcome;
        const { id } = accepted;
        if (!this.#isNew(id, accepted.name, name)) return { kind: "known", id };
        return { kind: "made", made: this.#own({ id, sentName: name, postMs, accepted }) };
      }
      const { failure } = outcome;
      if (!(failure instanceof RequestError)) throw failure;
      // A 409 says too little to be sure that nothing was made, so the name stays unclear.
      if (failure.kind === "answered" && !failure.transient && !failure.isTokenRefused)
        return { kind: "refused", refusal: refusalOf(failure) };
      if (outcome.kind === "unclear") {
        const item = await this.#search(asking, name);
        if (item) {
          const { id } = item;
          return {
            kind: "made",
            made: this.#own({ id, sentName: name, postMs, accepted: undefined }),
          };
        }
      }
      throw failure;
    }
  }

  /** Whether the instance was surely made by this run: it was not there before, or has a name of this run. */
  #isNew(id: string, shown: string | undefined, name: string): boolean {
    const isKnown = this.#before?.items.has(id) || this.#owned.some(({ made }) => made.id === id);
    return !isKnown && (this.#before?.complete === true || isNamed(shown, name));
  }

  #own(made: Omit<Made, "sighting">): Made {
    const whole: Made = { ...made, sighting: { statuses: [], before: [] } };
    this.#owned.push({ made: whole, acceptedAt: this.#session.ctx.clock.now() });
    this.#parts.note(`made       ${made.id} "${made.sentName}"`);
    return whole;
  }

  #noteDestroyed(id: string): void {
    this.#destroyed.add(id);
    this.#parts.note(`destroyed  ${id}`);
  }

  /** Looks for the instance of a POST without a clear answer, for a while. */
  async #search(asking: Asking, name: string): Promise<ListItem | undefined> {
    const until = asking.now() + this.#patienceMs;
    for (;;) {
      const { items } = await asking.look();
      const item = [...items.values()].find(
        (one) => isNamed(one.name, name) && this.#isNew(one.id, one.name, name),
      );
      if (item || asking.now() >= until) return item;
      await asking.pause();
    }
  }

  /** Takes what a listing shows of the POSTs whose outcome is not known. */
  #claim(items: Iterable<ListItem>): void {
    for (const { id, name } of items)
      for (const sentName of this.#unclear)
        if (isNamed(name, sentName) && this.#isNew(id, name, sentName))
          this.#own({ id, sentName, postMs: 0, accepted: undefined });
  }

  async #untilListed(asking: Asking, { sighting }: Made): Promise<void> {
    const until = asking.now() + this.#patienceMs;
    for (; sighting.listedAt === undefined && asking.now() < until; await asking.pause())
      this.#see(await asking.look());
  }

  /** Resolves to how long after now the first of the listings began that prove the instance gone. Undefined if none do. */
  async #untilGone(asking: Asking, id: string): Promise<number | undefined> {
    const { pollIntervalMs } = this.#session.settings;
    const begunAt = asking.now();
    // The service has acknowledged the DELETE, so each listing counts.
    let witness = witnessOf({ subject: { id }, listedBy: begunAt, pollIntervalMs });
    for (let lackedAt: number | undefined; ; await asking.pause()) {
      const look = await asking.look();
      const seen = see(witness, look);
      witness = seen.witness;
      if (seen.verdict.kind === "listed") lackedAt = undefined;
      else lackedAt ??= look.begunAt;
      if (seen.verdict.kind === "absent") return (lackedAt ?? look.begunAt) - begunAt;
      if (asking.now() - begunAt > this.#patienceMs) return undefined;
    }
  }

  /** Notes what a listing shows of the instances. */
  #see(look: Look): void {
    const [first, second] = this.#owned.map(({ made }) => made.id);
    const shown = [...look.items.keys()];
    const at = [first, second].map((id) => shown.indexOf(id ?? ""));
    if (at.every((index) => index >= 0))
      this.#order[(at[0] ?? 0) < (at[1] ?? 0) ? "oldestFirst" : "newestFirst"]++;
    for (const { made, acceptedAt } of this.#owned) this.#seeOne(made, acceptedAt, look);
  }

  #seeOne({ id, sighting }: Made, acceptedAt: number, look: Look): void {
    const item = look.items.get(id);
    const now = look.endedAt - acceptedAt;
    if (!item) {
      if (look.complete) sighting.lackedAt = Math.max(0, look.begunAt - acceptedAt);
      return;
    }
    sighting.listedAt ??= now;
    sighting.name = item.name;
    const { status = "", ipv4_public: address } = item;
    if (sighting.statuses.at(-1)?.status !== status) {
      sighting.statuses.push({ status, at: now });
      this.#parts.note(`listed     ${id} ${status}, ${(now / 1000).toFixed(1)} s after its 202`);
    }
    const before = JSON.stringify(look.addresses.get(id)) ?? "nothing";
    if (address !== undefined) sighting.addressAt ??= now;
    else if (!sighting.before.includes(before)) sighting.before.push(before);
  }
}

function newName(): string {
  return `${namePrefix}${randomBytes(4).toString("hex")}`;
}

function isDestroyPath(path: string | undefined): path is DestroyPath {
  return path !== undefined && /^\/v2\/[^{}]*\/\{id\}$|^\/v2\/\{id\}$/.test(path);
}

/** Whether the answer says that nothing can be destroyed there, whatever the id. */
function isForbidden(answer: Answer<number>): boolean {
  return answer.kind === "refused" && (answer.refusal.isNoCall || answer.refusal.isScopeMissing);
}
