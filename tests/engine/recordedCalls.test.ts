/**
 * The calls that the real engine makes to the plugin in each operation, recorded in recordedCalls.json with what each kind
 * of call proves. The simulation's model of the engine (tests/simulation/engine.ts) is tested with them. If an engine makes
 * other calls, compare the model with them, and record them again. A new kind of call gets an empty sentence, which a
 * person has to write.
 *
 *     COMPUTE_RECORD=1 node_modules/.bin/node node_modules/.bin/jest tests/engine/recordedCalls
 */
import { afterAll, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { testUnless } from "../../tools/support/unless";
import { hangs, never } from "./support/fixture";
import { endGroup, noTerminals } from "./support/processes";
import { emptyProgram, instances, oneInstance, required } from "./support/programs";
import {
  recordedCalls,
  recording,
  saveRecorded,
  withSentences,
} from "./support/recordedCalls/recording";

import { plugin, tokens } from "./support/stack";

afterAll(saveRecorded);

const urnOf = (name: string, stack = "dev") =>
  `urn:pulumi:${stack}::proj::compute:index:Instance::${name}`;
const importing = (name: string, id: string) => ["import", "compute:index:Instance", name, id];

test("up, up again, preview, refresh and destroy of an instance", async () => {
  await using fixture = await recording();
  const { stack, expectCalls } = fixture;
  await expectCalls("up, with its preview", () => stack.type("pulumi up"));
  await expectCalls("up without changes", () => stack.expectNothingToDo());
  await expectCalls("preview without changes", () => stack.preview());
  await expectCalls("refresh", () => stack.refresh());
  await expectCalls("destroy", () => stack.destroy());
});

test("replacements because of a changed input, `--replace` and a taint", async () => {
  await using fixture = await recording({
    program: oneInstance(),
    token: tokens.live,
    config: { deletePolicy: "retain" },
  });
  const { stack, expectCalls } = fixture;
  await stack.up();
  stack.program(oneInstance({ flavorId: "standard-4" }));
  await expectCalls("preview of a changed input", () => stack.preview());
  await expectCalls("up of a changed input", () => stack.up());
  stack.program(oneInstance({}, { deleteBeforeReplace: true }));
  await expectCalls("up of a changed input, with deleteBeforeReplace", () => stack.up());
  stack.program(oneInstance());
  await expectCalls("up --replace", () => stack.up("--replace", urnOf("web")));
  await stack.succeed("state", "taint", urnOf("web"), "--yes");
  await expectCalls("up of a tainted resource", () => stack.up());
});

test("an alias, a renamed stack, a moved resource, and retainOnDelete", async () => {
  await using fixture = await recording();
  const { stack, expectCalls } = fixture;
  await stack.up();
  stack.program(instances({ site: { options: { aliases: [{ name: "web" }] } } }));
  await expectCalls("up with an alias", () => stack.up());
  await stack.succeed("stack", "rename", "renamed");
  await expectCalls("up of a renamed stack", () => stack.up());
  await stack.succeed("stack", "init", "other");
  await stack.succeed(
    ...["state", "move", urnOf("site", "renamed"), "--yes"],
    ...["--source", "organization/proj/renamed", "--dest", "organization/proj/other"],
  );
  await expectCalls("refresh of a moved resource", () => stack.refresh("--stack", "other"));
  stack.program(instances({ site: { options: { retainOnDelete: true } } }));
  await stack.succeed("stack", "select", "other");
  await stack.configure({ baseUrl: fixture.service.url });
  await expectCalls("up with retainOnDelete", () => stack.up());
  await expectCalls("destroy with retainOnDelete", () => stack.destroy());
  expect(await stack.resources()).toEqual([]);
});

test("up of an existing, a new and a removed resource", async () => {
  await using fixture = await recording({ program: instances({ a: {}, b: {} }) });
  const { stack, expectCalls } = fixture;
  await expectCalls("up of two new resources", () => stack.up());
  stack.program(instances({ a: {}, c: {} }));
  await expectCalls("up of an existing, a new and a removed resource", () => stack.up());
});

test("`pulumi import`, with --preview-only and without", async () => {
  await using fixture = await recording({ program: emptyProgram });
  const { stack, service, expectCalls } = fixture;
  const { id } = service.control.insert({ name: "web-main" });
  await expectCalls("import --preview-only", () =>
    stack.succeed(...importing("web", id), "--preview-only"),
  );
  await expectCalls("import", () => stack.succeed(...importing("web", id), "--yes"));
  stack.program(oneInstance({ name: "web-main" }));
  await expectCalls("up after an import", () => stack.up());
});

testUnless(noTerminals, "`pulumi import`, declined at its prompt", async () => {
  await using fixture = await recording({ program: emptyProgram });
  const { stack, service, expectCalls } = fixture;
  const { id } = service.control.insert({ name: "web-main" });
  await expectCalls("import, declined at the prompt", async () => {
    // The prompt appears only on a terminal.
    const command = `pulumi ${importing("web", id).join(" ")} --color=never`;
    const answering =
      "until grep -q 'Do you want' screen; do sleep 0.1; done; printf '\\r'; sleep 2";
    const terminal = `env -u PULUMI_SKIP_CONFIRMATIONS script -qfec '${command}' screen`;
    const output = await stack.type(`touch screen; (${answering}) | ${terminal}; true`);
    expect(output).toMatch(/declined|cancel/);
    expect(await stack.instances()).toEqual([]);
  });
});

test("the resource option `import`, in a preview and in up", async () => {
  await using fixture = await recording({ program: emptyProgram });
  const { stack, service, expectCalls } = fixture;
  const { id } = service.control.insert({ name: "web-main" });
  stack.program(oneInstance({ name: "web-main" }, { import: id }));
  await expectCalls("preview with the option import", () => stack.preview());
  await expectCalls("up with the option import", () => stack.up());
});

test("`.get()`, without a state and with one", async () => {
  await using fixture = await recording({ program: emptyProgram });
  const { stack, service, expectCalls } = fixture;
  const { id, name } = service.control.insert({ name: "web-main" });
  const getting = (get: object) =>
    stack.program(instances({}, { resources: { web: { type: "compute:Instance", get } } }));
  getting({ id });
  await expectCalls("preview of a get", () => stack.preview());
  await expectCalls("up of a get", () => stack.up());
  await expectCalls("second up of a get", () => stack.up());
  await expectCalls("refresh of a get", () => stack.refresh());
  getting({ id, state: { ...required, name, status: "ACTIVE" } });
  await expectCalls("up of a get with a state", () => stack.up());
  stack.program(oneInstance());
  await expectCalls("up of a create in place of a get", () => stack.up());
});

test("a destroy that the provider refuses", async () => {
  await using fixture = await recording({ token: tokens.live });
  const { stack, expectCalls } = fixture;
  await stack.up();
  await expectCalls("destroy, refused", () => stack.fail("destroy"));
});

test("Ctrl-C during the wait, and the up that continues it", async () => {
  await using fixture = await recording({ service: never });
  const { expectCalls } = fixture;
  const interrupted = async () => {
    const up = await fixture.upInWait();
    await up.end("Ctrl-C");
    await up.failed();
  };
  await expectCalls("up, Ctrl-C during the wait", interrupted);
  await expectCalls("up of an unfinished instance, Ctrl-C during the wait", interrupted);
});

test("Ctrl-C twice while the service does not answer", async () => {
  await using fixture = await recording();
  const { stack, control, expectCalls } = fixture;
  const hanging = control.fault(hangs);
  await expectCalls("up, Ctrl-C twice during the POST", async () => {
    const up = stack.start("up");
    await up.reached(hanging.firstHit);
    void up.ended.then(() => hanging.release());
    await up.end("Ctrl-C twice");
    expect(await stack.instances()).toEqual([]);
  });
});

test.each(["engine killed", "plugin killed"] as const)(
  "%s during the wait, and the up that follows",
  async (end) => {
    await using fixture = await recording({ service: never });
    const { stack, expectCalls } = fixture;
    await expectCalls(`up, ${end} during the wait`, async () => {
      await (await fixture.upInWait()).end(end);
    });
    fixture.control.finishProvisioning();
    if (end === "engine killed") await stack.succeed("cancel", "--yes");
    await expectCalls(`up after ${end} during the wait`, () => stack.up());
  },
);

test("the import of a file with outputs, which reads nothing", async () => {
  await using fixture = await recording({ program: emptyProgram });
  const { stack, service, expectCalls } = fixture;
  const { id, name } = service.control.insert({ name: "web-main" });
  const inputs = { ...required, name };
  const web = { type: "compute:index:Instance", name: "web", id, inputs, outputs: inputs };
  writeFileSync(join(stack.project, "import.json"), JSON.stringify({ resources: [web] }));
  await expectCalls("import of a file with outputs", () =>
    stack.succeed("import", "--file", "import.json", "--yes"),
  );
  expect((await stack.instance()).id).toBe(id);
});

test("an attached plugin, one process with a session for each engine", async () => {
  await using fixture = await recording();
  const { stack, expectCalls } = fixture;
  await expectCalls("up twice with an attached plugin", async () => {
    const { PATH } = process.env;
    const env = { PATH, PULUMI_HOME: stack.home, COMPUTE_API_TOKEN: tokens.test };
    const detached = { env, detached: true };
    const attached = spawn(plugin, [], { ...detached, stdio: "pipe" });
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => endGroup(attached, "SIGTERM"));
    const [port] = (await once(attached.stdout.setEncoding("utf8"), "data")) as [string];
    stack.setEnv("PULUMI_DEBUG_PROVIDERS", `compute:${port.trim()}`);
    await stack.up();
    await stack.up();
  });
});

/**
 * A program with an error hook, which the language host of these tests does not support. With the Automation API the
 * engine runs the program without a language host.
 */
const errorHookProgram = `
const pulumi = require("@pulumi/pulumi");
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
async function program() {
  const hook = new pulumi.ErrorHook("again", ({ errors }) => errors.length < 2);
  const options = { hooks: { onError: [hook] } };
  new pulumi.CustomResource("compute:index:Instance", "web", ${JSON.stringify(required)}, options);
}
LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "proj", program }, { workDir: "." })
  .then((stack) => stack.up({ onOutput: console.log }))
  .catch((error) => console.log(String(error)));
`;

test("an error hook makes the engine repeat a create", async () => {
  await using fixture = await recording({ program: emptyProgram });
  const { stack, service, expectCalls } = fixture;
  service.control.fault({ method: "POST", kind: "endsAs", status: "MIGRATING" });
  stack.javascript("");
  writeFileSync(join(stack.project, "hook.js"), errorHookProgram);
  await expectCalls("up with an error hook that repeats the create", () =>
    stack.type(`'${process.execPath}' hook.js`),
  );
  expect((await stack.instances()).map(({ id }) => id)).toEqual(fixture.ids());
});

test("recordedCalls.json has a sentence for each recorded kind of call and answer, and no other sentences", () => {
  expect(recordedCalls).toEqual(withSentences(recordedCalls));
  expect(Object.values({ ...recordedCalls.proves, ...recordedCalls.answers })).not.toContain("");
});
