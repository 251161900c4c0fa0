/** The emulator's page in a real browser, while a real `pulumi up` runs. */
import { expect } from "@jest/globals";
import { findChromium, startChromium } from "../../../tools/support/chromium";
import { missingChromium, testUnless } from "../../../tools/support/unless";
import { Fixture } from "../support/fixture";
import { oneInstance } from "../support/programs";

const hostileName = '<img src=x onerror="document.title = 1">';
const storm = "#faults > button:first-child";

testUnless(
  missingChromium(),
  "a run meets a fault that was switched on at the emulator's page, and the page shows the run",
  async () => {
    await using fixture = await Fixture.create({
      program: oneInstance({ name: hostileName }),
      service: { controlEndpoints: true, provisioningSeconds: Infinity },
    });
    await using chromium = await startChromium(findChromium() ?? "");
    const textOf = (selector: string) =>
      chromium.evaluate(`document.querySelector("${selector}").textContent`);
    await chromium.open(fixture.service.origin);
    await chromium.waitFor('document.querySelector("#connection").textContent === "live"');

    await chromium.click(storm);
    await chromium.waitFor(`document.querySelector("${storm}").ariaPressed === "true"`);
    const up = fixture.stack.start("up", "--yes", "--skip-preview");
    await chromium.waitFor('document.querySelector("#requests .bad") !== null');
    expect(await textOf("#requests .bad")).toBe("429 (fault: status)");
    expect(fixture.posts()).toBe(0);
    await chromium.click(storm);

    await chromium.waitFor('document.querySelector("#instances .PROVISIONING") !== null');
    expect(await textOf("#instances td")).toBe(hostileName);
    expect(await chromium.evaluate('document.querySelectorAll("main img").length')).toBe(0);
    await chromium.click("#settle");

    expect(await up.ended).toMatchObject({ code: 0 });
    await chromium.waitFor('document.querySelector("#instances .ACTIVE") !== null');
    expect(fixture.posts()).toBe(1);
    expect(await chromium.evaluate("document.title")).toBe("Compute Instances Service, emulated");
  },
);
