/**
 * The service, asked as `pulumi up` asks it: by the provider's own client, with the same settings. Two
 * kinds of GET, and nothing that changes anything.
 */
import { type Certificate, watchCertificates } from "../../api/certificates";
import type { AnswerHead, ComputeApi } from "../../api/client";
import { createClient } from "../../api/createClient";
import { RequestError } from "../../api/errors";
import type { Settings } from "../../config/settings";
import { collect } from "../../listing/collect";
import { accountId } from "../../session/connection";
import { Session } from "../../session/session";
import type { Surroundings } from "../../surroundings";

export type Asked<T> = { value: T } | { error: RequestError };

export type Listed = Awaited<ReturnType<typeof collect>> & {
  pages: number;
  /** Why the service did not page by the cursor it was given. */
  ignored: string | undefined;
};

/** Not the RequestError itself, which the client would take for the end of another try. */
class GivenUp extends Error {
  constructor(readonly error: RequestError) {
    super("given up");
  }
}

/** Ctrl-C ends the process itself. */
const never = new AbortController().signal;

export class Visit implements Disposable {
  /** Of every answer, also of refusals. */
  readonly heads: AnswerHead[] = [];
  /** Tries that failed, also of requests that were answered in the end. */
  readonly failedTries: RequestError[] = [];
  certificate: Certificate | undefined;
  readonly #session: Session;
  readonly #stopWatching: () => void;
  #onFailedTry: (error: RequestError) => void = () => undefined;

  constructor(
    readonly settings: Settings,
    private readonly around: Surroundings,
  ) {
    const createApi: Surroundings["createApi"] = (options) =>
      createClient({
        ...options,
        onAnswer: (head) => this.heads.push(head),
        onFailedTry: (error) => this.#onFailedTry(error),
      });
    this.#session = new Session(settings, { ...around, createApi }, () => never);
    this.#stopWatching = watchCertificates(settings.baseUrl, (it) => (this.certificate = it));
  }

  [Symbol.dispose](): void {
    this.#stopWatching();
  }

  /** The account's id, where the answer has one. */
  account(): Promise<Asked<string | undefined>> {
    return this.#ask(async (api, signal) => accountId(await api.account(signal)));
  }

  /** In pages of this size, or as large as they may be. */
  listing(pageSize?: number): Promise<Asked<Listed>> {
    return this.#ask(async (api, signal) => {
      let pages = 0;
      // Answers are more than pages: what is refused is asked again.
      const pager: Pick<ComputeApi, "listPage"> = {
        listPage: async (...query) => {
          const page = await api.listPage(...query);
          pages++;
          return page;
        },
      };
      let ignored: string | undefined;
      const { cursorParameter } = this.settings;
      const onCursorIgnored = (why: string) => (ignored = why);
      const options = { cursorParameter, onCursorIgnored, ...(pageSize ? { pageSize } : {}) };
      const found = await collect(pager, options, signal);
      return { ...found, ignored, pages };
    });
  }

  /**
   * `pulumi up` has the patience of an operation; a person who asks what is wrong has not: after a
   * 429, or when half a request's time-out is over, there is no other try.
   */
  async #ask<T>(question: (api: ComputeApi, signal: AbortSignal) => Promise<T>): Promise<Asked<T>> {
    const { clock } = this.around;
    const ending = new AbortController();
    const begun = clock.now();
    this.#onFailedTry = (error) => {
      this.failedTries.push(error);
      const late = clock.now() - begun >= this.settings.requestTimeoutMs / 2;
      if (error.status === 429 || late) ending.abort(new GivenUp(error));
    };
    try {
      return { value: await question(await this.#session.connection.api(), ending.signal) };
    } catch (error) {
      if (error instanceof GivenUp) return { error: error.error };
      if (error instanceof RequestError) return { error };
      throw error;
    }
  }
}
