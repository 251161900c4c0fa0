/** Tests the page in a real browser. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { findChromium, startChromium } from "../../tools/support/chromium";
import { describeUnless, missingChromium } from "../../tools/support/unless";
import { startEmulator, type Emulator } from "../index";
import { caller } from "../testClient";

const hostileName = '<img src=x onerror="document.title = 1"><script>document.title = 2</script>';
const title = "Compute Instances Service, emulated";
const buttons = ["429 storm", "Server errors", "Lost response", "Slow responses", "Lagging list"];
const button = (index: number) => `#faults > button:nth-child(${String(index + 1)})`;
const isPressed = (index: number, pressed: boolean) =>
  `document.querySelector("${button(index)}").ariaPressed === "${String(pressed)}"`;

describeUnless(missingChromium(), "the page in Chromium", () => {
  let chromium: Awaited<ReturnType<typeof startChromium>>;
  let emulator: Emulator;
  beforeAll(async () => {
    chromium = await startChromium(findChromium() ?? "");
  });
  afterAll(async () => {
    await chromium[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    emulator = await startEmulator({ controlEndpoints: true, provisioningSeconds: 1000 });
  });
  afterEach(() => emulator.close());

  const open = async () => {
    await chromium.open(emulator.origin);
    await chromium.waitFor('document.querySelector("#connection").textContent === "live"');
  };
  const textOf = (selector: string) =>
    chromium.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`);

  test("shows a hostile name as text, and runs nothing of it", async () => {
    await open();
    await caller(emulator).create(hostileName);
    await chromium.waitFor('document.querySelector("#instances td:nth-child(2)") !== null');
    expect(await textOf("#instances td")).toBe(hostileName);
    expect(await textOf("#requests td:nth-child(2)")).toBe(`POST /v2/instances ${hostileName}`);
    expect(
      await chromium.evaluate('document.querySelectorAll("main :is(img, script)").length'),
    ).toBe(0);
    // If a name became HTML one day, the policy would still stop it.
    const html = JSON.stringify(hostileName);
    await expect(
      chromium.evaluate(`document.body.insertAdjacentHTML("beforeend", ${html})`),
    ).rejects.toThrow(/TrustedHTML/);
    expect(await chromium.evaluate("document.title")).toBe(title);
  });

  test("switches each fault on and off by a click, and shows in every tab which ones are on", async () => {
    await open();
    for (const index of buttons.keys()) {
      await chromium.waitFor(isPressed(index, false));
      await chromium.click(button(index));
      await chromium.waitFor(isPressed(index, true));
    }
    expect(emulator.control.faults().map(({ label, kind }) => [label, kind])).toEqual([
      ["429 storm", "status"],
      ["Server errors", "status"],
      ["Lost response", "reset"],
      ["Slow responses", "delay"],
      ["Lagging list", "appearsAfter"],
    ]);
    await open();
    for (const index of buttons.keys()) {
      await chromium.waitFor(isPressed(index, true));
      await chromium.click(button(index));
      await chromium.waitFor(isPressed(index, false));
    }
    expect(emulator.control.faults()).toEqual([]);
    expect(await textOf("#message")).toBe("");
  });

  test("says at each fault what heals it, also while it is on", async () => {
    await open();
    const texts = () =>
      chromium.evaluate(
        `[...document.querySelectorAll("#faults > button")].map((it) => it.lastChild.textContent)`,
      );
    const healing = [
      "click again: the run goes on",
      "click again, and run pulumi up again",
      "nothing to do: the run finds the instance",
      "click again: the run goes on",
      "nothing to do: the run waits for them",
    ];
    expect(await texts()).toEqual(healing);
    await chromium.click(button(1));
    await chromium.waitFor(isPressed(1, true));
    expect(await texts()).toEqual(healing);
  });

  test("shows that a lost response happens once, and the instance that was created", async () => {
    await open();
    await chromium.click(button(2));
    await chromium.waitFor(isPressed(2, true));
    await expect(caller(emulator).create("web")).rejects.toThrow();
    await chromium.waitFor(isPressed(2, false));
    await chromium.waitFor('document.querySelector("#instance-count").textContent === "1"');
    expect(await textOf("#instances td")).toBe("web");
    expect(await textOf("#requests td:nth-child(3)")).toBe("none yet (fault: reset)");
    expect((await caller(emulator).create("another")).status).toBe(202);
  });

  test("can be used with the keyboard alone", async () => {
    await open();
    const focused = () => chromium.evaluate("document.activeElement.firstChild.textContent.trim()");
    const reached: unknown[] = [];
    for (let presses = 0; presses <= buttons.length; presses++) {
      await chromium.press("Tab");
      reached.push(await focused());
    }
    expect(reached).toEqual([...buttons, "Settle"]);
    await caller(emulator).create("web");
    await chromium.waitFor('document.querySelector("#instances .PROVISIONING") !== null');
    await chromium.press("Enter");
    await chromium.waitFor('document.querySelector("#instances .ACTIVE") !== null');

    await chromium.evaluate(`document.querySelector("${button(0)}").focus()`);
    await chromium.press("Space");
    await chromium.waitFor(isPressed(0, true));
    expect((await caller(emulator).ask("GET", "/account")).status).toBe(429);
    await chromium.waitFor('document.querySelector("#requests .bad") !== null');
    expect(await focused()).toBe("429 storm");
  });

  test("goes on when the emulator is started again", async () => {
    await open();
    const connection = 'document.querySelector("#connection").textContent';
    const { port } = emulator;
    await emulator.close();
    await chromium.waitFor(`${connection} === "The emulator does not answer. Trying again."`);
    emulator = await startEmulator({ controlEndpoints: true, port });
    emulator.control.insert({ name: "meanwhile" });
    await chromium.waitFor(`${connection} === "live"`);
    await chromium.waitFor('document.querySelector("#instances .ACTIVE") !== null');
    expect(await textOf("#instances td")).toBe("meanwhile");
  });

  test.each(["light", "dark"] as const)("can be read in %s colours", async (scheme) => {
    emulator.control.insert({ name: "a", status: "PROVISIONING" });
    emulator.control.insert({ name: "b", status: "OFFLINE" });
    emulator.control.insert({ name: "c" });
    await caller(emulator).ask("GET", "/account");
    emulator.control.fault({ kind: "status", status: 503, times: "always", label: "429 storm" });
    await chromium.resize(1180, 800, scheme);
    await open();
    await chromium.waitFor(isPressed(0, true));
    expect(await chromium.evaluate(`{ ${findPaleTexts} }`)).toEqual({ hasText: true, pale: [] });
  });
});

/**
 * A script that runs in the page. It returns each text whose contrast with its background is below 4.5, the minimum of the
 * Web Content Accessibility Guidelines (WCAG 2.2, 1.4.3).
 */
const findPaleTexts = `
  const luminance = (color) => {
    const [red, green, blue] = color.match(/[0-9.]+/g).map((part) => {
      const share = Number(part) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const backgroundOf = (element) => {
    const { backgroundColor } = getComputedStyle(element);
    return backgroundColor.startsWith("rgb(") ? backgroundColor : backgroundOf(element.parentElement);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const pale = [];
  let count = 0;
  while (walker.nextNode()) {
    const { parentElement, textContent } = walker.currentNode;
    if (textContent.trim() === "" || parentElement.tagName === "SCRIPT") continue;
    count++;
    const lights = [getComputedStyle(parentElement).color, backgroundOf(parentElement)].map(luminance);
    const contrast = (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
    if (contrast < 4.5) pale.push(textContent + ": " + contrast);
  }
  ({ hasText: count > 30, pale })`;
