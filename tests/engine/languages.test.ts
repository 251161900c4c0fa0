/**
 * Runs the example of each language through the real language host. Its SDK is installed from a package, as a user
 * does it.
 */
import { expect } from "@jest/globals";
import { testUnless } from "../../tools/support/unless";
import { guests, hindrance, installed } from "./support/installing";
import { Fixture } from "./support/fixture";

// The first run spends most of its time on downloads.
for (const [name, language] of Object.entries(guests)) {
  const title = `the ${name} example is previewed, brought up with its outputs, unchanged by a second up, refreshed and destroyed`;
  testUnless(hindrance(language), title, async () => {
    const { project, env } = await installed(language);
    await using fixture = await Fixture.create({ program: project, env });
    const { stack, service } = fixture;

    const yes = ["--yes", "--skip-preview"];

    const preview = await stack.succeed("preview");
    expect(preview).toMatch(/\+ 3 to create/); // two instances, and the stack
    expect(fixture.posts()).toBe(0);

    const up = await stack.succeed("up", ...yes);
    expect(up).toContain("PROVISIONING");
    const records = service.control.instances();
    expect(records).toHaveLength(2);
    const outputs = await stack.outputs();
    const [names, addresses] = [outputs["names"], outputs["ipv4"]] as string[][];
    expect(names?.toSorted()).toEqual(records.map(({ name }) => name).toSorted());
    expect(addresses?.toSorted()).toEqual(records.map(({ ipv4_public }) => ipv4_public).toSorted());
    expect(outputs["networks"]).toEqual(
      Array.from({ length: 2 }, () => [expect.objectContaining({ type: "private" })]),
    );
    // The script of the servers, which contains this word, is a secret input.
    expect(JSON.stringify(await stack.resources())).not.toContain("nginx");

    await stack.succeed("up", ...yes, "--expect-no-changes");
    await stack.succeed("refresh", ...yes, "--expect-no-changes");
    await stack.succeed("destroy", ...yes);
    expect(await stack.resources()).toEqual([]);
    expect(fixture.posts()).toBe(2);
  });
}
