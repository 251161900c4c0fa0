/** Tests that `compute:refreshBeforeUpdate` lets a plain `pulumi up` see what has changed at the service. */
import { expect, test } from "@jest/globals";
import { printedCommands } from "../support/printed";
import { Fixture, type FixtureOptions } from "./support/fixture";
import { instances } from "./support/programs";

const program = instances({ web: {}, db: {}, mail: {} });
const oneListing = { "GET /v2/account": 1, "GET /v2/instances": 1 };

/** A stack with three instances. */
async function withThree(options: FixtureOptions = {}): Promise<Fixture> {
  const config = { refreshBeforeUpdate: "true" };
  const fixture = await Fixture.create({ program, config, ...options });
  await fixture.stack.up();
  fixture.control.forgetRequests();
  return fixture;
}

/** Returns the requests since the last call. */
function requests({ control }: Fixture): object {
  const counts = control.counts();
  control.forgetRequests();
  return counts;
}

test("a plain preview, up and destroy begin with one listing. They show a rename and a status, and up makes only what is gone", async () => {
  await using fixture = await withThree();
  const { stack, control } = fixture;
  await stack.expectNothingToDo();
  expect(requests(fixture)).toEqual(oneListing);
  const [gone = "", renamed = "", stopped = ""] = await stack.ids();
  control.rename(renamed, "by-hand");
  control.setStatus(stopped, "OFFLINE");
  const changes = [
    /refresh .*\[diff: ~name\]/,
    /refresh .*\[diff: ~status\]/,
    new RegExp(`warning: instance ${stopped} is OFFLINE`),
  ];

  const previewed = await stack.preview();
  expect(requests(fixture)).toEqual(oneListing);
  const done = await stack.expectNothingToDo();
  expect(requests(fixture)).toEqual(oneListing);
  for (const change of changes) for (const text of [previewed, done]) expect(text).toMatch(change);

  control.remove(gone);
  expect(await stack.up()).toMatch(/\+ 1 created\n +3 unchanged/);
  expect(requests(fixture)).toMatchObject({ "POST /v2/instances": 1 });
  expect(await stack.ids()).toEqual(fixture.ids().sort());
  // What an `up` has recorded is no news to the next one.
  expect(await stack.up()).not.toMatch(/diff|warning/);
  requests(fixture);
  await stack.destroy();
  expect(requests(fixture)).toMatchObject(oneListing);
});

test("for instances that exist, a refresh switches the setting on and off", async () => {
  await using fixture = await withThree({ config: {} });
  const { stack } = fixture;
  for (const [value, cost] of [
    ["true", oneListing],
    ["false", {}],
  ] as const) {
    await stack.configure({ refreshBeforeUpdate: value });
    await stack.refresh("--run-program");
    requests(fixture);
    await stack.expectNothingToDo();
    expect(requests(fixture)).toEqual(cost);
  }
});

test("after a change of the address, the printed command helps: a plain up reads the instances with the recorded one", async () => {
  await using fixture = await withThree();
  const { stack, service } = fixture;
  await stack.configure({ baseUrl: service.url.replace("/v2", "/wrong/v2") });
  await stack.up();
  await stack.configure({ baseUrl: service.url });

  const failed = await stack.fail("up");

  const [command = ""] = printedCommands(failed, "pulumi refresh --run-program");
  await stack.type(`${command} --yes`);
  await stack.expectNothingToDo();
  await stack.destroy("--run-program");
  expect(await stack.instances()).toEqual([]);
});

test("with `options: refresh: always` in Pulumi.yaml, a plain up sees it, too, and `--refresh=false` does not look", async () => {
  const always = `options: { refresh: always }\n${program}`;
  await using fixture = await withThree({ config: {}, program: always });
  const { stack, control } = fixture;
  const [gone = ""] = await stack.ids();
  control.remove(gone);
  await stack.expectNothingToDo("--refresh=false");
  expect(requests(fixture)).toEqual({});
  expect(await stack.up()).toContain("+ 1 created");
  expect(await stack.ids()).toEqual(fixture.ids().sort());
});
