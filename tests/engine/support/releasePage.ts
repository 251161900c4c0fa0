/** A local HTTP server with the files of a release. Tests use its address as the download URL of the plugin. */
import { createReadStream, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";

/** A server of release files. */
export class ReleasePage implements AsyncDisposable {
  readonly #server: Server;
  /** The names of all requested files, existing or not. */
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
      // The engine refuses an archive without a Content-Length.
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
