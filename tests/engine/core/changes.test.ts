/** Tests that a change of the program is shown before it happens (G5), with what stays behind (G4). */
import { expect, test } from "@jest/globals";
import { oneInstance, required, userData, type Inputs } from "../support/programs";
import { Fixture } from "../support/fixture";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const created: Inputs = { name: "web-main", sshKeys: ["a", "b"], userData };

test("a preview shows changed inputs, and only those, as a replacement, and names the instance that is left behind", async () => {
  await using fixture = await Fixture.create({ program: oneInstance(created) });
  const { stack } = fixture;
  await stack.up();
  const [id] = fixture.ids();

  const more = base64(`${userData}# more\n`);
  const changes: Inputs[] = [
    { name: "web-other", imageId: "debian-13" },
    { flavorId: "premium-8", vpcId: "vpc-other", userData: undefined, userDataBase64: more },
    { sshKeys: ["a", "c"] },
  ];
  for (const change of changes) {
    stack.program(oneInstance({ ...created, ...change }));
    const { code, output } = await stack.preview("--diff");

    expect(output).toMatch(/\+-compute:index:Instance: \(replace\)/);
    const shown = [...output.matchAll(/^ +[~+-] (\w+) *:/gm)].map(([, name]) => name ?? "");
    // The engine shows what Diff names, and every name it shows was changed.
    const all = [...Object.keys(required), "name", "sshKeys", "userData", "userDataBase64"];
    expect(new Set(shown.filter((name) => all.includes(name)))).toEqual(
      new Set(Object.keys(change)),
    );
    expect(output).toContain(`replacing instance ${id} leaves it behind`);
    expect(code).toBe(0);
  }
  expect(fixture.posts()).toBe(1);
});

test("with a test token the instance is replaced, and a message names the old one, which is left behind", async () => {
  await using fixture = await Fixture.create({ program: oneInstance(created) });
  await fixture.stack.up();
  const [old] = fixture.ids();
  fixture.stack.program(oneInstance({ ...created, flavorId: "premium-8" }));

  const { code, output } = await fixture.stack.up();

  expect(output).toContain(`instance ${old} is dropped from the state, not destroyed`);
  expect(code).toBe(0);
  expect(fixture.ids()).toEqual([old, (await fixture.stack.instance()).id]);
});
