/**
 * Controls a Chromium without a window, which shows one of our pages for a test or a picture. This file uses Chromium's
 * own protocol (https://chromedevtools.github.io/devtools-protocol/), because each package that does so would be a
 * large download for `npm start`.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { onPath } from "./onPath";

const commands = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser"];
const macApplications = ["Chromium", "Google Chrome"].map(
  (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
);

/** Returns the path of the Chromium or Chrome on this machine. Undefined if there is none. */
export function findChromium(): string | undefined {
  const found = commands.map((name) => onPath(name)).find((path) => path !== undefined);
  return found ?? macApplications.find((path) => existsSync(path));
}

interface Message {
  id?: number;
  result?: unknown;
  error?: { message: string };
}

/** A connection to Chromium. Its messages are JSON, each followed by a zero byte. */
class Connection {
  readonly #output: Writable;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;
  #received = "";

  constructor(input: Readable, output: Writable) {
    this.#output = output;
    input.setEncoding("utf8").on("data", (text: string) => {
      const messages = (this.#received + text).split("\0");
      this.#received = messages.pop() ?? "";
      for (const message of messages) this.#settle(JSON.parse(message) as Message);
    });
    const fail = () => {
      for (const { reject } of this.#pending.values()) reject(new Error("Chromium has ended"));
    };
    input.on("close", fail);
    output.on("error", fail);
  }

  /** Settles the request that a message answers. Messages without an id are events, which are ignored. */
  #settle({ id = 0, result, error }: Message): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error) pending?.reject(new Error(error.message));
    else pending?.resolve(result);
  }

  async send<T>(method: string, params: object, sessionId?: string): Promise<T> {
    if (this.#output.destroyed) throw new Error("Chromium has ended");
    const id = ++this.#lastId;
    const pending = Promise.withResolvers<unknown>();
    this.#pending.set(id, pending);
    this.#output.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return (await pending.promise) as T;
  }
}

/** The keys that `press` knows. */
const keys = {
  Enter: { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" },
  Space: { key: " ", code: "Space", windowsVirtualKeyCode: 32, text: " " },
  Tab: { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 },
} as const;

/** A page in Chromium. */
export class BrowserPage {
  readonly #send: <T>(method: string, params?: object) => Promise<T>;

  constructor(connection: Connection, sessionId: string) {
    this.#send = (method, params = {}) => connection.send(method, params, sessionId);
  }

  /** Opens a URL. Does not wait for its content: `waitFor` does. */
  async open(url: string): Promise<void> {
    const { errorText } = await this.#send<{ errorText?: string }>("Page.navigate", { url });
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
  }

  /** Evaluates JavaScript in the page, and returns its value as JSON carries it. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#send<{
      result: { value?: unknown };
      exceptionDetails?: { text: string; exception?: { description?: string } };
    }>("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails === undefined) return result.value;
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }

  /** Waits until an expression is true. An exception, such as before the page has loaded, counts as false. */
  async waitFor(expression: string): Promise<void> {
    const end = Date.now() + 120_000;
    while ((await this.evaluate(expression).catch(() => false)) !== true) {
      if (Date.now() > end) {
        const text = await this.evaluate("document.body.innerText");
        throw new Error(`not true for two minutes: ${expression}\nThe page:\n${String(text)}`);
      }
      await sleep(50);
    }
  }

  /** Clicks in the middle of the element, as a mouse does. */
  async click(selector: string): Promise<void> {
    const [x, y] = (await this.evaluate(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element.scrollIntoView({ block: "center" });
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    })()`)) as [number, number];
    for (const type of ["mousePressed", "mouseReleased"])
      await this.#send("Input.dispatchMouseEvent", { type, x, y, button: "left", clickCount: 1 });
  }

  /** Presses and releases a key. */
  async press(name: keyof typeof keys): Promise<void> {
    for (const type of ["keyDown", "keyUp"])
      await this.#send("Input.dispatchKeyEvent", { type, ...keys[name] });
  }

  /** Shows the page as on a screen of this size in pixels, with this colour scheme. */
  async resize(width: number, height: number, scheme: "light" | "dark" = "light"): Promise<void> {
    const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
    await this.#send("Emulation.setDeviceMetricsOverride", metrics);
    const features = [{ name: "prefers-color-scheme", value: scheme }];
    await this.#send("Emulation.setEmulatedMedia", { features });
  }

  /** Returns a picture of what is on the screen, as PNG. */
  async picture(): Promise<Buffer> {
    const { data } = await this.#send<{ data: string }>("Page.captureScreenshot");
    return Buffer.from(data, "base64");
  }
}

/**
 * Starts the Chromium at `path`, and returns an empty page. Disposing of the page ends Chromium and deletes its files.
 */
export async function startChromium(path: string): Promise<BrowserPage & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  const profile = mkdtempSync(join(tmpdir(), "compute-chromium-"));
  resources.defer(() => rmSync(profile, { recursive: true, force: true, maxRetries: 10 }));
  const options = [
    ...["--headless", "--remote-debugging-pipe", `--user-data-dir=${profile}`],
    ...["--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
    // Chromium has no sandbox as root, and some systems forbid it. This is safe, because only our own pages are shown.
    "--no-sandbox",
  ];
  const stdio = ["ignore", "ignore", "ignore", "pipe", "pipe"] as const;
  const child = spawn(path, options, { stdio: [...stdio] });
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  child.once("close", () => resolve()).once("error", () => resolve());
  resources.defer(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const [, , , output, input] = child.stdio as unknown as [0, 0, 0, Writable, Readable];
  const connection = new Connection(input, output);
  const { targetId } = await connection.send<{ targetId: string }>("Target.createTarget", {
    url: "about:blank",
  });
  const { sessionId } = await connection.send<{ sessionId: string }>("Target.attachToTarget", {
    targetId,
    flatten: true,
  });
  const owned = resources.move();
  return Object.assign(new BrowserPage(connection, sessionId), {
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}
