/**
 * Controls a Chromium without a window by its own protocol (https://chromedevtools.github.io/devtools-protocol/),
 * because each package that does so is a large download for `npm start`.
 */
import { spawn } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { existsSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "./files";
import { onPath } from "./onPath";

const commands = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser"];
const macApplications = ["Chromium", "Google Chrome"].map(
  (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
);

/** Undefined if there is no Chromium or Chrome on this machine. */
export function findChromium(): string | undefined {
  const found = commands.map((name) => onPath(name)).find((path) => path !== undefined);
  return found ?? macApplications.find((path) => existsSync(path));
}

type Send = <T>(method: string, params: object, sessionId?: string) => Promise<T>;

/** Returns what sends a request and awaits its answer. Messages are JSON, each followed by a zero byte. */
function connect(input: Readable, output: Writable): Send {
  /** Emits each answer under the id of its request. Other messages are ignored. */
  const answers = new EventEmitter();
  const fail = () => answers.emit("error", new Error("Chromium has ended"));
  // Without a listener, `emit` would throw.
  answers.on("error", () => undefined);
  input.on("close", fail);
  output.on("error", fail);
  let received = "";
  input.setEncoding("utf8").on("data", (text: string) => {
    const messages = (received + text).split("\0");
    received = messages.pop() ?? "";
    for (const message of messages) {
      const answer = JSON.parse(message) as { id?: number };
      answers.emit(String(answer.id), answer);
    }
  });
  let lastId = 0;
  return async <T>(method: string, params: object, sessionId?: string) => {
    if (output.destroyed) throw new Error("Chromium has ended");
    const id = ++lastId;
    output.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    const [answer] = (await once(answers, String(id))) as [
      { result: T; error?: { message: string } },
    ];
    if (answer.error) throw new Error(answer.error.message);
    return answer.result;
  };
}

const keys = {
  Enter: { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" },
  Space: { key: " ", code: "Space", windowsVirtualKeyCode: 32, text: " " },
  Tab: { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 },
} as const;

export class BrowserPage {
  readonly #send: <T>(method: string, params?: object) => Promise<T>;

  constructor(send: Send, sessionId: string) {
    this.#send = (method, params = {}) => send(method, params, sessionId);
  }

  /** Does not wait for the content: `waitFor` does. */
  async open(url: string): Promise<void> {
    const { errorText } = await this.#send<{ errorText?: string }>("Page.navigate", { url });
    if (errorText !== undefined) throw new Error(`${url}: ${errorText}`);
  }

  /** Returns the value of JavaScript in the page, as JSON carries it. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#send<{
      result: { value?: unknown };
      exceptionDetails?: { text: string; exception?: { description?: string } };
    }>("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails === undefined) return result.value;
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }

  /** An exception, such as before the page has loaded, counts as false. */
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

  async press(name: keyof typeof keys): Promise<void> {
    for (const type of ["keyDown", "keyUp"])
      await this.#send("Input.dispatchKeyEvent", { type, ...keys[name] });
  }

  /** Shows the page as on a screen of this size in pixels. */
  async resize(width: number, height: number, scheme: "light" | "dark" = "light"): Promise<void> {
    const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
    await this.#send("Emulation.setDeviceMetricsOverride", metrics);
    const features = [{ name: "prefers-color-scheme", value: scheme }];
    await this.#send("Emulation.setEmulatedMedia", { features });
  }

  /** Returns what is on the screen, as PNG. */
  async picture(): Promise<Buffer> {
    const { data } = await this.#send<{ data: string }>("Page.captureScreenshot");
    return Buffer.from(data, "base64");
  }
}

/** Returns an empty page. Disposing of it ends Chromium and deletes its files. */
export async function startChromium(path: string): Promise<BrowserPage & AsyncDisposable> {
  await using resources = new AsyncDisposableStack();
  const profile = resources.use(temporaryFolder());
  const options = [
    ...["--headless", "--remote-debugging-pipe", `--user-data-dir=${profile.path}`],
    ...["--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
    // Root can't have the sandbox, and some systems forbid it. Only our own pages are shown.
    "--no-sandbox",
  ];
  const child = spawn(path, options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const ended = once(child, "close").catch(() => undefined);
  resources.defer(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const [, , , output, input] = child.stdio as unknown as [0, 0, 0, Writable, Readable];
  const send = connect(input, output);
  const target = { url: "about:blank" };
  const { targetId } = await send<{ targetId: string }>("Target.createTarget", target);
  const attach = { targetId, flatten: true };
  const { sessionId } = await send<{ sessionId: string }>("Target.attachToTarget", attach);
  const owned = resources.move();
  return Object.assign(new BrowserPage(send, sessionId), {
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  });
}
