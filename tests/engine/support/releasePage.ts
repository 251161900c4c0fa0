/** The files of a release behind HTTP, on this machine: what the page of a release is to the engine. */
import { createReadStream, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";

export class ReleasePage implements AsyncDisposable {
  readonly #server: Server;
  /** The files that were asked for, there or not. */
  readonly asked: string[] = [];

  private constructor(
    server: Server,
    readonly url: string,
  ) {
    this.#server = server;
  }

  static async serve(...files: readonly string[]): Promise<ReleasePage> {
    const server = createServer((request, response) => {
      const name = (request.url ?? "").slice(1);
      page.asked.push(name);
      const file = files.find((path) => basename(path) === name);
      if (file === undefined) return response.writeHead(404).end();
      // The engine takes no archive whose length it is not told.
      response.setHeader("Content-Length", statSync(file).size);
      return createReadStream(file).pipe(response);
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    const { port } = server.address() as AddressInfo;
    const page = new ReleasePage(server, `http://127.0.0.1:${port}`);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}
