/**
 * The instances that `probe` makes in the sandbox, watches and destroys. It makes none with a token that is not a test token, and
 * destroys none that may be another's.
 */
import { randomBytes } from "node:crypto";
import { deadline, grace } from "../../provider/abort";
import type { DestroyPath } from "../../provider/api/client";
import type { CreateBody, ListItem } from "../../provider/api/contract";
import { RequestError } from "../../provider/api/requestError";
import { pageLimit } from "../../provider/api/serviceConstants";
import { OperationFailed } from "../../provider/errors";
import { isNamed, see, witnessOf } from "../../provider/evidence/witness";
import type {
  Answer,
  CreateFact,
  DestroyTry,
  Made,
  OrderFact,
  SameNameFact,
  ListedFact,
} from "./facts";
import {
  refusedAnswerOf,
  whyStepEnded,
  type Inquiry,
  type ProbeListing,
  type Steps,
} from "./steps";

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
interface SandboxParts {
  readonly steps: Steps;
  readonly ids: SandboxIds;
  /** Aborted by Ctrl-C. */
  readonly ended: AbortSignal;
  /** Tells the person. */
  readonly note: (line: string) => void;
}

/** The instances of one run. */
export class Sandbox {
  readonly #parts: SandboxParts;
  readonly #owned: Owned[] = [];
  /** What was listed before the first POST. */
  #before: ProbeListing | undefined;
  /** The names of POSTs whose outcome is not known. */
  readonly #unclear = new Set<string>();
  readonly #destroyed = new Set<string>();
  /** Whether there is no call to try in the end. */
  #isDestroyAsked = false;
  readonly #order = { oldestFirst: 0, newestFirst: 0 };

  /** @throws Error if the token is not a test token */
  constructor(parts: SandboxParts) {
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

  get #destroyPaths(): ReadonlySet<DestroyPath> {
    const { destroyPath } = this.#session.settings;
    return new Set(isDestroyPath(destroyPath) ? [destroyPath, ...destroyPaths] : destroyPaths);
  }

  /** The ids of the instances that nothing has destroyed. */
  get left(): string[] {
    return this.#owned.map(({ made }) => made.id).filter((id) => !this.#destroyed.has(id));
  }

  /** Makes the first instance. */
  async create(asking: Inquiry): Promise<CreateFact> {
    this.#before = await asking.look();
    return await this.#make(asking, newName());
  }

  /** Waits until the first instance is ACTIVE with an address, or changes no more. Notes in the sighting why it ended before. */
  async wait(asking: Inquiry, { id, sighting }: Made): Promise<void> {
    const statusNow = () => sighting.statuses.at(-1)?.status;
    const isReady = () => sighting.addressAt !== undefined && statusNow() === "ACTIVE";
    try {
      if (await this.#watch(asking, sighting, isReady)) return;
      const address = sighting.addressAt === undefined ? "without an address" : "with an address";
      const what =
        statusNow() === undefined ? "not been listed" : `stayed ${statusNow()}, ${address}`;
      sighting.why = `${id} has ${what}, for ${Math.round(this.#patienceMs / 1000)} s`;
    } catch (error) {
      sighting.why = whyStepEnded(error);
    }
  }

  /** Makes another instance of the first one's name or, if that is refused, of another name, so that there are two. */
  async sameName(asking: Inquiry, { sentName }: Made): Promise<SameNameFact> {
    const outcome = await this.#make(asking, sentName);
    const second = outcome.kind === "made" ? outcome : await this.#make(asking, newName());
    if (second.kind === "made") {
      const { sighting } = second.made;
      await this.#watch(asking, sighting, () => sighting.listedAt !== undefined);
    }
    if (outcome.kind === "refused") return outcome;
    return { kind: outcome.kind === "made" ? "another" : "same" };
  }

  /** Looks in which order listings show the first two instances. */
  async order(asking: Inquiry): Promise<OrderFact> {
    for (let looks = 0; looks < orderLooks; looks++) this.#see(await asking.look());
    const { oldestFirst, newestFirst } = this.#order;
    if (oldestFirst + newestFirst < orderLooks)
      throw new OperationFailed(["too few listings have shown two instances"]);
    return { oldestFirst, newestFirst };
  }

  /** Finds the destroy call: with an id that no instance has, then with an instance of this run. */
  async destroy(asking: Inquiry): Promise<readonly DestroyTry[]> {
    const tries: DestroyTry[] = [];
    this.#claim((await asking.look()).items.values());
    const [own] = this.left;
    if (own === undefined) throw new OperationFailed(["it takes an instance, and none was made"]);
    for (const path of this.#destroyPaths) {
      const stranger = await asking.destroy(path, `${newName()}-no-such-id`);
      if (isForbidden(stranger)) {
        tries.push({ path, stranger });
        continue;
      }
      const answer = await asking.destroy(path, own);
      const mayBeGone = answer.kind === "answered" || answer.refusal.mayHaveActed;
      const goneAfter = mayBeGone ? await this.#untilGone(asking, own) : undefined;
      tries.push({ path, stranger, own: answer, goneAfter });
      if (goneAfter === undefined) continue;
      for (const id of this.left) {
        const isAnswered = id === own || (await asking.destroy(path, id)).kind === "answered";
        if (isAnswered && goneAfter !== "unseen") this.#noteDestroyed(id);
      }
      break;
    }
    this.#isDestroyAsked = true;
    return tries;
  }

  /** Sends DELETE for what is left if the destroy call was not looked for to the end. Never fails, and ends soon. */
  async cleanUp(): Promise<void> {
    const { api } = this.#parts.steps;
    if (this.#isDestroyAsked || this.#owned.length + this.#unclear.size === 0) return;
    const never = new AbortController().signal;
    using ending = deadline(this.#session.ctx.clock, cleanUpSeconds, never);
    const { signal } = ending;
    const ignore = () => undefined;
    if (this.#unclear.size > 0)
      this.#claim(
        (await api.listBy({ limit: String(pageLimit.max) }, signal).catch(ignore))?.items ?? [],
      );
    const destroy = async (id: string) => {
      for (const path of this.#destroyPaths)
        if ((await api.destroyAt(path, id, signal).catch(ignore)) !== undefined)
          return this.#noteDestroyed(id);
    };
    await Promise.all(this.left.map(destroy));
  }

  /** Sends a POST until the service has decided about it. @throws Error if nothing was made, or if that is not clear */
  async #make(asking: Inquiry, name: string): Promise<CreateFact> {
    const { ended, ids } = this.#parts;
    for (;;) {
      // The answer also counts after Ctrl-C: without its id, the instance could not be destroyed.
      using late = grace(this.#session.ctx.clock, lateAnswerMs, ended);
      this.#unclear.add(name);
      const { outcome, ms: postMs } = await asking.post({ name, ...ids }, late.signal);
      if (outcome.kind !== "unclear") this.#unclear.delete(name);
      if (outcome.kind === "rateLimited") continue;
      if (outcome.kind === "accepted") {
        const { accepted } = outcome;
        const { id } = accepted;
        if (!this.#isNew(id, accepted.name, name)) return { kind: "known", id };
        return { kind: "made", made: this.#noteMade({ id, sentName: name, postMs, accepted }) };
      }
      const { failure } = outcome;
      // A 409 does not say for sure that nothing was made, so its name stays unclear.
      if (failure instanceof RequestError && failure.isFinalNo)
        return { kind: "refused", refusal: refusedAnswerOf(failure) };
      const made = outcome.kind === "unclear" && (await this.#search(asking, postMs));
      if (made) return { kind: "made", made };
      throw failure;
    }
  }

  /** Whether the instance was surely made by this run: it was not there before, or has a name of this run. */
  #isNew(id: string, shown: string | undefined, name: string): boolean {
    const isKnown = this.#before?.items.has(id) || this.#owned.some(({ made }) => made.id === id);
    return !isKnown && (this.#before?.complete === true || isNamed(shown, name));
  }

  #noteMade(made: Omit<Made, "sighting">): Made {
    const whole: Made = { ...made, sighting: { statuses: [], before: [] } };
    this.#owned.push({ made: whole, acceptedAt: this.#session.ctx.clock.now() });
    this.#parts.note(`made       ${made.id} "${made.sentName}"`);
    return whole;
  }

  #noteDestroyed(id: string): void {
    this.#destroyed.add(id);
    this.#parts.note(`destroyed  ${id}`);
  }

  /** Looks for a while for the instance of a POST without a clear answer. */
  async #search(asking: Inquiry, postMs: number): Promise<Made | undefined> {
    for (const until = asking.now() + this.#patienceMs; ; await asking.pause()) {
      const made = this.#claim((await asking.look()).items.values(), postMs);
      if (made || asking.now() >= until) return made;
    }
  }

  /** Takes what a listing shows of the POSTs whose outcome is not known. Returns one of those instances. */
  #claim(items: Iterable<ListItem>, postMs = 0): Made | undefined {
    let made: Made | undefined;
    for (const { id, name } of items)
      for (const sentName of this.#unclear)
        if (isNamed(name, sentName) && this.#isNew(id, name, sentName))
          made = this.#noteMade({ id, sentName, postMs, accepted: undefined });
    return made;
  }

  /** Looks until `isDone`. Resolves to false if the instance has left PROVISIONING, or is not listed, and changes no more. */
  async #watch(asking: Inquiry, { statuses }: ListedFact, isDone: () => boolean): Promise<boolean> {
    for (let changedAt = asking.now(), changes = 0; ; await asking.pause()) {
      this.#see(await asking.look());
      if (isDone()) return true;
      const isMoving = statuses.length > changes || statuses.at(-1)?.status === "PROVISIONING";
      if (isMoving) changedAt = asking.now();
      changes = statuses.length;
      if (asking.now() - changedAt >= this.#patienceMs) return false;
    }
  }

  /** Looks for a while whether the instance is gone. */
  async #untilGone(asking: Inquiry, id: string): Promise<DestroyTry["goneAfter"]> {
    const { pollIntervalMs } = this.#session.settings;
    const begunAt = asking.now();
    // The service has acknowledged the DELETE, so each listing counts.
    let witness = witnessOf({ subject: { id }, listedBy: begunAt, pollIntervalMs });
    for (; ; await asking.pause()) {
      const seen = see(witness, await asking.look());
      witness = seen.witness;
      if (seen.verdict.kind === "absent")
        return (witness.firstLacking?.begunAt ?? begunAt) - begunAt;
      if (asking.now() - begunAt > this.#patienceMs)
        return seen.verdict.kind === "listed" ? undefined : "unseen";
    }
  }

  /** Notes what a listing shows of the instances. */
  #see(look: ProbeListing): void {
    const [first, second] = this.#owned.map(({ made }) => made.id);
    const shown = [...look.items.keys()];
    const at = [first, second].map((id) => shown.indexOf(id ?? ""));
    if (at.every((index) => index >= 0))
      this.#order[(at[0] ?? 0) < (at[1] ?? 0) ? "oldestFirst" : "newestFirst"]++;
    for (const { made, acceptedAt } of this.#owned) this.#seeOne(made, acceptedAt, look);
  }

  #seeOne({ id, sighting }: Made, acceptedAt: number, look: ProbeListing): void {
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
  return path !== undefined && /^\/v2\/([^{}?#]*\/)?\{id\}$/.test(path);
}

/** Whether the answer says that nothing can be destroyed there, whatever the id. */
function isForbidden(answer: Answer<number>): boolean {
  return answer.kind === "refused" && (answer.refusal.isNoCall || answer.refusal.isScopeMissing);
}
