/** A TLS proxy in front of an http service, with the certificate that a test chooses. */
import * as net from "node:net";
import * as tls from "node:tls";
import type { TestCertificate } from "../../provider/api/testing/certificates";

export class TlsFront implements AsyncDisposable {
  /** The number of successful handshakes. If it is 0, no request can have arrived. */
  handshakes = 0;
  refusals = 0;
  readonly #server: tls.Server;
  readonly #open = new Set<net.Socket>();

  private constructor(servicePort: number, certificate: TestCertificate) {
    this.#server = tls.createServer(certificate, (socket) => {
      this.handshakes++;
      const service = net.connect(servicePort, "127.0.0.1");
      socket.pipe(service).pipe(socket);
      for (const end of [socket, service]) {
        this.#open.add(end);
        end.on("error", () => undefined);
        end.on("close", () => {
          socket.destroy();
          service.destroy();
        });
      }
    });
    this.#server.on("tlsClientError", () => this.refusals++);
  }

  static async start(servicePort: number, certificate: TestCertificate): Promise<TlsFront> {
    const front = new TlsFront(servicePort, certificate);
    await new Promise<void>((listening) => front.#server.listen(0, "127.0.0.1", listening));
    return front;
  }

  /** Sets the certificate of new connections. Open connections keep theirs. */
  present(certificate: TestCertificate): void {
    this.#server.setSecureContext(certificate);
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port;
  }

  /** The base URL. Its host name is the one in the certificates of the tests. */
  get url(): string {
    return `https://localhost:${this.port}/v2`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((closed) => this.#server.close(closed));
  }
}
