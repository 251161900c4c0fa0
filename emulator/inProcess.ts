/**
 * The emulator as a function call, for the simulation (tests/simulation), which decides itself whether and when a
 * response arrives. So this emulator refuses delivery faults (which change or withhold a response) and delays.
 */
import { Control } from "./control/control";
import { EmulatedService } from "./emulatedService";
import { isDelayFault, isDeliveryFault, type InstanceFault, type ListFault } from "./faults/kinds";
import { maxBodyBytes } from "./http/request";
import { bodyText, headersOf } from "./http/response";
import { OptionError, type EmulatorOptions } from "./options";

/** An emulator without sockets. */
export interface InProcessEmulator extends Disposable {
  readonly control: Control;
  /**
   * Acts on the request, and returns the response.
   * @throws {OptionError} if a scripted delivery fault or delay applies to the request
   */
  answer(
    request: InProcessRequest,
    faults?: readonly (InstanceFault | ListFault)[],
  ): InProcessResponse;
  /** Restores the initial state. The clock and the source of random numbers are not reset. */
  reset(): void;
  close(): void;
}

/** A request to the service. */
export interface InProcessRequest {
  method: string;
  /** The path and the query. */
  target: string;
  authorization?: string | undefined;
  contentType?: string | undefined;
  body?: string | undefined;
}

/** A response of the service. */
export interface InProcessResponse {
  status: number;
  /** The headers by their names in lower case. */
  headers: Record<string, string>;
  body: string;
  /** Whether the service did what the request asks for. */
  acted: boolean;
}

/** @throws {OptionError} for invalid options */
export function startInProcess(options: EmulatorOptions = {}): InProcessEmulator {
  const service = new EmulatedService(options);
  const close = () => service.close();
  return {
    control: new Control(service),
    answer({ method, target, authorization, contentType, body = "" }, faults) {
      const bytes = Buffer.from(body);
      const received = service.receive({
        method,
        target,
        authorization,
        contentType,
        body: bytes.length > maxBodyBytes ? undefined : bytes,
      });
      if (received.faults.some(({ fault }) => isDeliveryFault(fault) || isDelayFault(fault)))
        throw new OptionError(`without sockets there is no ${received.entry.faults.join()}`);
      const response = service.answer(received, faults);
      received.entry.status = response.status;
      const responseBody = bodyText(response);
      const headers = Object.entries(headersOf(response, Buffer.byteLength(responseBody)));
      return {
        status: response.status,
        headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
        body: responseBody,
        acted: received.entry.acted && response.status < 300,
      };
    },
    reset: () => service.reset(),
    close,
    [Symbol.dispose]: close,
  };
}
