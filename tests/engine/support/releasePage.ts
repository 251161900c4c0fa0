/** A local HTTP server with the files of a release. Tests use its address as the download URL of the plugin. */
import { once } from "node:events";
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";

export class ReleasePage implements AsyncDisposable {
  /** The names of all requested files, existing or not. */
  readonly asked: string[] = [];
  readonly #server;

  private constructor(files: readonly string[]) {
    this.#server = createServer((request, response) => {
      const name = (request.url ?? "").slice(1);
      this.asked.push(name);
      const file = files.find((path) => basename(path) === name);
      if (file === undefined) return response.writeHead(404).end();
      // The engine refuses an archive without a Content-Length.
      response.setHeader("Content-Length", statSync(file).size);
      return createReadStream(file).pipe(response);
    });
  }

  static async serve(...files: readonly string[]): Promise<ReleasePage> {
    const page = new ReleasePage(files);
    await once(page.#server.listen(0, "127.0.0.1"), "listening");
    return page;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }
}
