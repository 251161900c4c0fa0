/**
 * The service without sockets, for a simulation: what is answered is the same, and getting it to the
 * caller, or not, is the simulation's own. So there are no delivery faults and no delays here.
 */
import { act, newRequestId, receive } from "./acting";
import { Control } from "./control/control";
import { isDelivery, isTiming, type InstanceFault, type ListFault } from "./faults/kinds";
import { FaultList } from "./faults/script";
import { bodyText } from "./http/answers";
import { bodyLimitBytes } from "./http/request";
import { headersOf } from "./http/send";
import { OptionError, settingsFrom, type EmulatorOptions } from "./options";
import { RequestLog } from "./requestLog";
import { Router } from "./router";
import { clear, makeService } from "./service";

export interface InProcess extends Disposable {
  readonly control: Control;
  /** The service acts, and this is what it says. */
  answer(request: InProcessRequest, faults?: readonly (InstanceFault | ListFault)[]): Answered;
  /** Back to what it was when new; clock and random source go on. */
  reset(): void;
  close(): void;
}

export interface InProcessRequest {
  method: string;
  /** Path and query. */
  target: string;
  authorization?: string | undefined;
  contentType?: string | undefined;
  body?: string | undefined;
}

export interface Answered {
  status: number;
  /** By their names in small letters. */
  headers: Record<string, string>;
  body: string;
  /** Whether it did what was asked. */
  acted: boolean;
}

export function inProcess(options: EmulatorOptions = {}): InProcess {
  const settings = settingsFrom(options);
  const service = makeService(settings);
  const faults = new FaultList(settings.random);
  const requests = new RequestLog();
  const acting = { service, faults, requests, router: new Router(service) };
  const close = () => service.store.close();

  function answer({ target, body = "", ...request }: InProcessRequest, more = none): Answered {
    const bytes = Buffer.from(body);
    const arrival = receive(acting, {
      ...{ method: request.method, target, requestId: newRequestId(settings.random) },
      ...{ authorization: request.authorization, contentType: request.contentType },
      body: bytes.length > bodyLimitBytes ? undefined : bytes,
    });
    if (arrival.striking.some(({ behaviour: it }) => isDelivery(it) || isTiming(it)))
      throw new OptionError(`without sockets there is no ${arrival.entry.faults.join()}`);
    const answer = act(acting, arrival, more);
    const text = bodyText(answer);
    const headers = Object.entries(headersOf(answer, Buffer.byteLength(text)));
    arrival.entry.status = answer.status;
    return {
      status: answer.status,
      headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
      body: text,
      acted: answer.status < 300,
    };
  }

  return {
    control: new Control(service, faults, requests),
    answer,
    reset() {
      clear(service);
      faults.clear();
      requests.clear();
    },
    close,
    [Symbol.dispose]: close,
  };
}

const none: readonly (InstanceFault | ListFault)[] = [];
