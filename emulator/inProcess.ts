/**
 * The emulator without sockets, for a simulation: the responses are the same, and the simulation itself decides whether
 * they arrive. So there are no delivery faults and no delays here.
 */
import { Control } from "./control/control";
import { EmulatedService } from "./emulatedService";
import { isDelayFault, isDeliveryFault, type InstanceFault, type ListFault } from "./faults/kinds";
import { mostBodyBytes } from "./http/request";
import { bodyText, headersOf } from "./http/response";
import { OptionError, type EmulatorOptions } from "./options";

/** An emulator that is called as a function. */
export interface InProcessEmulator extends Disposable {
  readonly control: Control;
  /** Does what the request asks for, and returns the response. */
  answer(
    request: InProcessRequest,
    faults?: readonly (InstanceFault | ListFault)[],
  ): InProcessResponse;
  /** Makes the emulator as it was when new. The clock and the source of random numbers go on. */
  reset(): void;
  close(): void;
}

/** A request to the service. */
export interface InProcessRequest {
  method: string;
  /** Path and query. */
  target: string;
  authorization?: string | undefined;
  contentType?: string | undefined;
  body?: string | undefined;
}

/** A response of the service. */
export interface InProcessResponse {
  status: number;
  /** By their names in lower case. */
  headers: Record<string, string>;
  body: string;
  /** Whether the service did what the request asks for. */
  acted: boolean;
}

/** @throws {OptionError} for options that make no sense */
export function startInProcess(options: EmulatorOptions = {}): InProcessEmulator {
  const service = new EmulatedService(options);
  const close = () => {
    service.close();
  };
  return {
    control: new Control(service),
    answer({ method, target, authorization, contentType, body = "" }, faults) {
      const bytes = Buffer.from(body);
      const received = service.receive({
        ...{ method, target, authorization, contentType },
        body: bytes.length > mostBodyBytes ? undefined : bytes,
      });
      if (received.faults.some(({ fault }) => isDeliveryFault(fault) || isDelayFault(fault)))
        throw new OptionError(`without sockets there is no ${received.entry.faults.join()}`);
      const response = service.answer(received, faults);
      received.entry.status = response.status;
      const text = bodyText(response);
      const headers = Object.entries(headersOf(response, Buffer.byteLength(text)));
      return {
        status: response.status,
        headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
        body: text,
        acted: response.status < 300,
      };
    },
    reset: () => {
      service.reset();
    },
    close,
    [Symbol.dispose]: close,
  };
}
