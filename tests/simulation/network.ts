/**
 * The network of the simulation, in place of undici: it calls the emulator in memory. Each part of a request takes
 * time, and may meet a fault.
 */
import type { Dispatcher } from "undici";
import {
  isInstanceFault,
  isListFault,
  type InstanceFault,
  type ListFault,
} from "../../emulator/faults/kinds";
import type { InProcessResponse, InProcessEmulator } from "../../emulator/inProcess";
import type { Dialer } from "../../provider/dialer";
import type { Fault } from "./faults";
import type { Random } from "./random";
import type { Timeline } from "./timeline";

export interface Sender {
  name: string;
  runIfAlive(run: () => void): void;
}

export interface SentRequest {
  sender: Sender;
  method: string;
  path: string;
  body: string | undefined;
}

export interface NetworkHooks {
  /** Called once for each request, when it is sent. */
  faultFor(sent: SentRequest): Fault | undefined;
  /** Faults of the instance that a POST creates, beside a fault of the request. */
  instanceFaultsFor(sent: SentRequest): InstanceFault[];
  /** Called once the service has answered. `answer.acted` says whether it did what the request asks for. */
  acted(sent: SentRequest, answer: InProcessResponse): void;
  /** Whether the ports at this address answer. */
  portAnswers(address: string): boolean;
  trace(line: string): void;
}

const html = "<html><body>Bad gateway</body></html>";

export class Network {
  constructor(
    private readonly timeline: Timeline,
    private readonly random: Random,
    private readonly service: Pick<InProcessEmulator, "answer">,
    private readonly hooks: NetworkHooks,
  ) {}

  /** Stands in for undici's Agent. */
  dispatcher(sender: Sender): Dispatcher {
    const dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) => {
      this.#send(sender, options, handler);
      return true;
    };
    const doNothing = () => Promise.resolve();
    return { dispatch, close: doNothing, destroy: doNothing } as unknown as Dispatcher;
  }

  /** Stands in for TCP. */
  dialer(sender: Sender): Dialer {
    const dial: Dialer["dial"] = (address, port, signal) =>
      new Promise((resolve, reject) => {
        const end = () => reject(signal.reason as Error);
        if (signal.aborted) return end();
        signal.addEventListener("abort", end, { once: true });
        const arrive = () => {
          signal.removeEventListener("abort", end);
          if (this.hooks.portAnswers(address)) return resolve();
          const code = "ECONNREFUSED";
          reject(Object.assign(new Error(`connect ${code} ${address}:${port}`), { code }));
        };
        this.timeline.after(this.#latency(), () => sender.runIfAlive(arrive));
      });
    return { dial };
  }

  #send(
    sender: Sender,
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): void {
    const { path = "/", method } = options;
    const body = options.body as string | undefined;
    const sent: SentRequest = { sender, method, path, body };
    const fault = this.hooks.faultFor(sent);
    const controller = new Controller();
    /** Unless the sender is dead or has aborted the request by then. */
    const arrive = (ms: number, run: () => void) =>
      this.timeline.after(ms, () => sender.runIfAlive(() => controller.aborted || run()));
    const fail = (ms: number, code: string) =>
      arrive(ms, () =>
        handler.onResponseError?.(controller, Object.assign(new Error(code), { code })),
      );
    if (fault?.kind === "refused") return fail(this.#latency(), "ECONNREFUSED");
    arrive(this.#latency(), () => {
      handler.onRequestStart?.(controller, {});
      if (controller.aborted) return;
      // From here on, the request reaches the service even if the sender dies.
      this.timeline.after(this.#latency(), () => {
        const answer = this.#serve(sent, options, fault);
        if (answer === "none") return;
        if (answer === "cut") return fail(this.#latency(), "ECONNRESET");
        const ms = fault?.kind === "delay" ? fault.milliseconds : 0;
        const bytes = Buffer.from(answer.body);
        arrive(ms + this.#latency(), () => {
          handler.onResponseStart?.(controller, answer.status, answer.headers, "");
          if (fault?.kind !== "cutBody") {
            handler.onResponseData?.(controller, bytes);
            return handler.onResponseEnd?.(controller, {});
          }
          handler.onResponseData?.(controller, bytes.subarray(0, bytes.length >> 1));
          fail(this.#latency(), "UND_ERR_SOCKET");
        });
      });
    });
  }

  /** Lets the service act unless the fault prevents it. "none": nothing ever arrives. "cut": the connection ends. */
  #serve(
    sent: SentRequest,
    { headers, path: target }: Dispatcher.DispatchOptions,
    fault: Fault | undefined,
  ): InProcessResponse | "none" | "cut" {
    const { method, body, sender } = sent;
    const sentHeaders = headers as Record<string, string>;
    const line = `${sender.name} ${method} ${target}`;
    const odd = fault && isOdd(fault) ? [fault] : [];
    const acts =
      fault === undefined || odd.length > 0 || !("acted" in fault) || fault.acted === true;
    let answer: InProcessResponse | undefined;
    if (acts) {
      answer = this.service.answer(
        {
          method,
          target,
          authorization: sentHeaders["authorization"] ?? "",
          ...(body === undefined ? {} : { body, contentType: "application/json" }),
        },
        [...odd, ...this.hooks.instanceFaultsFor(sent)],
      );
      this.hooks.acted(sent, answer);
    }
    this.hooks.trace(`${line}: ${fault ? JSON.stringify(fault) : ""} ${answer?.body ?? ""}`);
    if (fault?.kind === "hang") return "none";
    if (fault?.kind === "status" || fault?.kind === "html") return answerOf(fault);
    if (fault?.kind === "reset" || !answer) return "cut";
    // As with sockets, an answer without a body is lost as a whole.
    if (fault?.kind === "cutBody" && answer.body === "") return "cut";
    return fault?.kind === "body" ? { ...answer, body: fault.text } : answer;
  }

  /** In milliseconds. One in twelve is so long that other requests may overtake. */
  #latency(): number {
    return this.random.oneIn(12) ? this.random.between(100, 3000) : this.random.between(1, 60);
  }
}

/** Whether the service makes the list or the new instance behave in this way. */
const isOdd = (fault: Fault): fault is InstanceFault | ListFault =>
  isInstanceFault(fault as InstanceFault) || isListFault(fault as ListFault);

function answerOf(fault: Extract<Fault, { kind: "status" | "html" }>): InProcessResponse {
  const { kind, status = 200, acted = false } = fault;
  const retryAfter = "retryAfter" in fault && { "retry-after": String(fault.retryAfter) };
  const contentType = kind === "html" ? "text/html" : "application/json";
  const error = {
    code: "scripted_fault",
    message: "A scripted fault.",
    doc_url: "https://docs.compute.example/errors",
    request_id: "req_simulated",
  };
  const body = kind === "html" ? html : JSON.stringify({ error });
  return { status, acted, headers: { "content-type": contentType, ...retryAfter }, body };
}

class Controller implements Dispatcher.DispatchController {
  aborted = false;
  readonly paused = false;
  readonly reason = null;
  readonly rawHeaders = null;
  readonly rawTrailers = null;
  abort(): void {
    this.aborted = true;
  }
  pause(): void {}
  resume(): void {}
}
