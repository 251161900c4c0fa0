/** Tests the page in a real browser. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { missingChromium, startChromium, type Browser, type Page } from "../../tools/npm/chromium";
import { describeUnless } from "../../tools/support/unless";
import { startEmulator, type Emulator } from "../index";
import { caller } from "../testClient";

const hostileName = '<img src=x onerror="document.title = 1"><script>document.title = 2</script>';
const title = "Compute Instances Service, emulated";
const buttons = [
  ...["429 storm", "Server errors", "Sold out", "Slow responses", "Lagging list"],
  ...["Lost response", "Never ready", "OFFLINE"],
];
const button = (index: number) => `#faults > button:nth-child(${String(index + 1)})`;
const pressed = (index: number) => `${button(index)}[aria-pressed="true"]`;
const released = (index: number) => `${button(index)}[aria-pressed="false"]`;
/** The buttons of the newest instance. */
const [rename, remove, change] = ["Rename", "Remove", "Make"].map(
  (verb) => `#instances > li:first-child button[aria-label^="${verb}"]`,
) as [string, string, string];

describeUnless(missingChromium(), "the page in Chromium", () => {
  let chromium: Browser;
  let page: Page;
  let emulator: Emulator;
  beforeAll(async () => {
    chromium = await startChromium();
    page = await chromium.newPage();
    page.setDefaultTimeout(120_000);
  });
  afterAll(() => chromium.close());
  beforeEach(async () => {
    emulator = await startEmulator({ controlEndpoints: true, provisioningSeconds: 1000 });
  });
  afterEach(() => emulator.close());

  const open = async () => {
    await page.goto(emulator.origin);
    await page.waitForSelector("#connection::-p-text(connected)");
  };
  const textOf = (selector: string) =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`);
  const focused = () => page.evaluate("document.activeElement.firstChild.textContent.trim()");

  test("shows a hostile name as text, and runs nothing of it", async () => {
    await open();
    await caller(emulator).create(hostileName);
    await page.waitForSelector(rename);
    expect(await textOf("#instances .name")).toBe(hostileName);
    expect(await textOf("#requests .request")).toBe(`POST /v2/instances ${hostileName}`);
    expect(await page.evaluate('document.querySelectorAll("main :is(img, script)").length')).toBe(
      0,
    );
    // If a name became HTML one day, the policy would still stop it.
    const html = JSON.stringify(hostileName);
    await expect(
      page.evaluate(`document.body.insertAdjacentHTML("beforeend", ${html})`),
    ).rejects.toThrow(/TrustedHTML/);
    expect(await page.evaluate("document.title")).toBe(title);
  });

  test("switches each fault on and off by a click, and shows in every tab which ones are on", async () => {
    await open();
    for (const index of buttons.keys()) {
      await page.waitForSelector(released(index));
      await page.click(button(index));
      await page.waitForSelector(pressed(index));
    }
    expect(emulator.control.faults().map(({ label, kind }) => [label, kind])).toEqual([
      ["429 storm", "status"],
      ["Server errors", "status"],
      ["Sold out", "status"],
      ["Slow responses", "delay"],
      ["Lagging list", "appearsAfter"],
      ["Lost response", "reset"],
      ["Never ready", "neverLeavesProvisioning"],
      ["OFFLINE", "endsAs"],
    ]);
    await open();
    for (const index of buttons.keys()) {
      await page.waitForSelector(pressed(index));
      await page.click(button(index));
      await page.waitForSelector(released(index));
    }
    expect(emulator.control.faults()).toEqual([]);
    expect(await textOf("#message")).toBe("");
  });

  test("switches off by a click a fault that a request has switched on", async () => {
    const script = { method: "POST", times: "always" };
    for (const fault of [
      { ...script, kind: "status", status: 500, label: "busy" },
      { ...script, kind: "neverLeavesProvisioning" },
    ]) {
      const init = { method: "POST", body: JSON.stringify(fault) };
      expect((await fetch(`${emulator.origin}/control/faults`, init)).status).toBe(200);
    }
    await open();
    expect((await caller(emulator).create("web")).status).toBe(500);
    const text = (n: number) => textOf(`#other-faults > button:nth-child(${String(n)})`);
    await page.waitForSelector("#other-faults small::-p-text(1 request)");
    expect(await text(1)).toBe("busyon; met by 1 requestuntil the next clicklast met by web");
    expect(await text(2)).toMatch(/^Never readyon; /);
    await page.click('#other-faults > button[aria-pressed="true"]');
    await page.waitForSelector("#other-faults:not(:has(> :nth-child(2)))");
    expect(emulator.control.faults()).toMatchObject([{ kind: "neverLeavesProvisioning" }]);
    expect((await caller(emulator).create("web")).status).toBe(202);
    await page.waitForSelector("#requests .response::-p-text(202 (Never ready))");
  });

  test("shows what has met a lost response, which happens once, and the instance that was created", async () => {
    await open();
    const lost = buttons.indexOf("Lost response");
    await page.click(button(lost));
    await page.waitForSelector(pressed(lost));
    await expect(caller(emulator).create("web")).rejects.toThrow();
    await page.waitForSelector(`${released(lost)} small::-p-text(last met by web)`);
    await page.waitForSelector("#instance-count::-p-text(1)");
    expect(await textOf("#instances .name")).toBe("web");
    expect(await textOf("#requests .response")).toBe("no answer (Lost response)");
    expect((await caller(emulator).create("another")).status).toBe(202);
    // Switched on again, it forgets the first one.
    await page.click(button(lost));
    await page.waitForSelector(`${pressed(lost)} small::-p-text(on; met by 0 requests)`);
    expect(emulator.control.faults()).toHaveLength(1);
  });

  test("shows what an instance was made with, but no user data, and which request was repeated", async () => {
    await open();
    await caller(emulator).create("web", { user_data: "c2VjcmV0" });
    for (let times = 0; times < 12; times++) await caller(emulator).list("?limit=100");
    await page.waitForSelector("#requests ::-p-text(× 12)");
    expect(await textOf("#requests")).toMatch(
      /GET \/v2\/instances\?limit=100 × 12200.*POST \/v2\/instances web202$/,
    );
    expect(await textOf("#instances summary")).toBe("f · i · v");
    const made = { name: "web", flavor_id: "f", image_id: "i", vpc_id: "v" };
    const shown = { ...made, user_data: "6 bytes, not shown" };
    expect(JSON.parse(String(await textOf("#instances pre")))).toEqual(shown);
  });

  test("adds an instance by a click, and heals one that is never ready", async () => {
    await open();
    const stuck = buttons.indexOf("Never ready");
    await page.click(button(stuck));
    await page.waitForSelector(pressed(stuck));
    await caller(emulator, "sk_live_default_1").create("web");
    await page.waitForSelector("#instances .PROVISIONING");
    await page.click("#finish");
    await page.click("#add");
    await page.waitForSelector("#instances ::-p-text(by-hand-1)");
    await page.click("#add");
    await page.waitForSelector("#instances ::-p-text(by-hand-2)");
    await page.click("#instances > li:last-child button[aria-label='Make web ACTIVE']");
    await page.waitForSelector("#instances:not(:has(.PROVISIONING))");
    await page.click(change);
    await page.waitForSelector("#instances .OFFLINE");
    const live = { tokenKind: "live" };
    expect(emulator.control.instances()).toMatchObject([
      { ...live, name: "web", status: "ACTIVE" },
      { ...live, name: "by-hand-1", status: "ACTIVE" },
      { ...live, name: "by-hand-2", status: "OFFLINE" },
    ]);
  });

  test("renames and removes an instance by a click, whatever its id", async () => {
    const { control } = emulator;
    const { id } = control.insert({ name: "web", id: "i/ü ?#%" });
    control.insert({ name: "newest" });
    await open();
    await page.waitForSelector(remove);
    await page.click(remove);
    await page.waitForSelector("#instances .name::-p-text(web)");
    await page.waitForSelector("#instance-count::-p-text(1)");
    expect(control.instances()).toMatchObject([{ id, name: "web" }]);

    await page.click(rename);
    await page.keyboard.type("cancelled");
    await page.click('#rename button[value="cancel"]');
    await page.click(rename);
    await page.keyboard.type("escaped");
    await page.keyboard.press("Escape");
    expect(control.instance(id)?.name).toBe("web");
    await page.click(rename);
    await page.keyboard.type("renamed");
    await page.click('#rename button[value="rename"]');
    await page.waitForSelector("#instances .name::-p-text(renamed)");
    expect(control.instance(id)?.name).toBe("renamed");

    await page.click(remove);
    await page.waitForSelector("#instances .none");
    expect(control.instances()).toEqual([]);
    expect(await textOf("#message")).toBe("");
    // Neither Cancel nor Escape has sent anything.
    const sent =
      'performance.getEntries().filter(({ name }) => name.includes("/instances/")).length';
    expect(await page.evaluate(sent)).toBe(3);
  });

  test("can be used with the keyboard alone", async () => {
    emulator.control.insert({ name: "web", status: "PROVISIONING" });
    await open();
    await page.waitForSelector(rename);
    const reached: unknown[] = [];
    for (let presses = 0; presses <= buttons.length; presses++) {
      await page.keyboard.press("Tab");
      reached.push(await focused());
    }
    expect(reached).toEqual([...buttons, "Finish provisioning"]);
    await caller(emulator).create("created");
    await page.waitForSelector("#instances li:first-child .PROVISIONING");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#instances li:first-child .ACTIVE");

    // "Add an instance", the list, which can be scrolled with the keyboard, and what the instance was made with.
    for (let presses = 0; presses < 4; presses++) await page.keyboard.press("Tab");
    expect(await focused()).toBe("Rename");
    await page.keyboard.press("Enter");
    await page.keyboard.type("renamed");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#instances .name::-p-text(renamed)");
    expect(await focused()).toBe("Rename");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#instances li:first-child .PROVISIONING");
    expect(emulator.control.instances()).toMatchObject([{ name: "web" }]);

    await page.focus(button(0));
    await page.keyboard.press("Space");
    await page.waitForSelector(pressed(0));
    expect((await caller(emulator).ask("GET", "/account")).status).toBe(429);
    await page.waitForSelector("#requests .bad");
    expect(await focused()).toBe("429 storm");
  });

  test("keeps the focus while instances change, come and go", async () => {
    const { control } = emulator;
    const { id } = control.insert({ name: "before" });
    const { id: kept } = control.insert({ name: "web", status: "PROVISIONING" });
    await open();
    await page.waitForSelector(rename);
    await page.focus(rename);
    control.insert({ name: "after" });
    control.setStatus(kept, "OFFLINE");
    control.remove(id);
    await page.waitForSelector("#instances li:nth-child(2) .OFFLINE");
    expect(await focused()).toBe("Rename");
    await page.keyboard.press("Enter");
    expect(await page.evaluate('document.querySelector("#new-name").value')).toBe("web");
    control.remove(kept);
    await page.waitForSelector("#instance-count::-p-text(1)");
    await page.keyboard.press("Enter");
    // The next Tab goes on from there, and not from the beginning of the page.
    await page.waitForSelector('section[aria-labelledby="instances-title"]:focus');
  });

  test("goes on when the emulator is started again", async () => {
    await open();
    const { port } = emulator;
    await emulator.close();
    await page.waitForSelector("#connection::-p-text(The emulator does not answer. Trying again.)");
    emulator = await startEmulator({ controlEndpoints: true, port });
    emulator.control.insert({ name: "meanwhile" });
    await page.waitForSelector("#connection::-p-text(connected)");
    await page.waitForSelector("#instances .ACTIVE");
    expect(await textOf("#instances .name")).toBe("meanwhile");
  });

  test.each([
    [1200, ["faults", "instances requests", "windows"]],
    [1280, ["faults", "instances requests", "windows"]],
    [390, ["instances", "faults", "requests", "windows"]],
  ])("has its place for each thing on a screen that is %d pixels wide", async (width, rows) => {
    emulator.control.insert({ name: "x".repeat(100) });
    await caller(emulator).create("y".repeat(100));
    await caller(emulator).create("web", instanceOfExamples);
    await page.setViewport({ width, height: 800 });
    await open();
    await page.waitForSelector("#instances .ACTIVE");
    expect(await page.evaluate(`{ ${findRows} }`)).toEqual(rows);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    expect(await page.evaluate(`{ ${countLinesOfOrigin} }`)).toBe(1);
    // The end of a name is visible.
    expect(await page.evaluate(`{ ${findCutNames} }`)).toEqual([]);
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    expect(
      await page.evaluate('document.querySelector("h1").getBoundingClientRect().top'),
    ).toBeGreaterThan(0);
    expect(await textOf('section[aria-labelledby="instances-title"] #finish')).toMatch(
      /Finish provisioning/,
    );
  });

  test.each(["light", "dark"] as const)("can be read in %s colours", async (scheme) => {
    emulator.control.insert({ name: "a", status: "PROVISIONING" });
    emulator.control.insert({ name: "b", status: "OFFLINE" });
    emulator.control.insert({ name: "c" });
    await caller(emulator).ask("GET", "/account");
    emulator.control.fault({ kind: "status", status: 503, times: "always", label: "429 storm" });
    await page.setViewport({ width: 1440, height: 800 });
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await open();
    await page.waitForSelector(pressed(0));
    expect(await page.evaluate(`{ ${findPaleTexts} }`)).toEqual({ hasText: true, pale: [] });
  });
});

/** A script that runs in the page. It returns the names of the sections, those that are side by side in one string. */
const findRows = `
  const rows = new Map();
  for (const section of document.querySelectorAll("main > section")) {
    const name = section.getAttribute("aria-labelledby").replace("-title", "");
    const { top } = section.getBoundingClientRect();
    rows.set(top, [...(rows.get(top) ?? []), name]);
  }
  [...rows].sort(([a], [b]) => a - b).map(([, names]) => names.join(" "))`;

const instanceOfExamples = { flavor_id: "standard-2", image_id: "debian-12", vpc_id: "vpc-main" };

/** A script that runs in the page. It returns in how many lines the newest instance says what it was made with. */
const countLinesOfOrigin = `
  const range = document.createRange();
  range.selectNodeContents(document.querySelector("#instances > li:first-child summary"));
  new Set([...range.getClientRects()].map(({ top }) => top)).size`;

/** A script that runs in the page. It returns the names of instances, in cards and requests, that are wider than their place. */
const findCutNames = `
  [...document.querySelectorAll(".name, .request")]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ textContent }) => textContent)`;

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
