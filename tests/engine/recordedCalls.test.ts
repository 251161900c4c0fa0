/**
 * The calls that the real engine makes to the plugin in each operation that the model of the engine
 * (tests/simulation/engine.ts) knows, recorded in recordedCalls.json with what each kind of call proves.
 * If an engine makes other calls, the test of the operation fails. Then compare the model with them, and record them
 * again:
 *
 *     COMPUTE_RECORD=1 node_modules/.bin/node node_modules/.bin/jest tests/engine/recordedCalls
 *
 * A new kind of call gets an empty sentence, which a person has to write.
 */
import { afterAll, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { testUnless } from "../../tools/support/unless";
import {
  CallRecording,
  recordedCalls,
  saveRecorded,
  withSentences,
} from "./support/recordedCalls/recording";
import { gone, noTerminals } from "./support/processes";
import { instances, oneInstance, required } from "./support/programs";
import { tokens } from "./support/stack";

afterAll(saveRecorded);

const emptyProgram = "resources: {}\n";
const never = { provisioningSeconds: Infinity };
const up = ["up", "--yes", "--skip-preview"];
const urnOf = (name: string, stack = "dev") =>
  `urn:pulumi:${stack}::proj::compute:index:Instance::${name}`;
const importing = (name: string, id: string) => ["import", "compute:index:Instance", name, id];

test("up, up again, preview, refresh and destroy of an instance", async () => {
  await using recording = await CallRecording.create({ program: oneInstance() });
  const { stack } = recording.fixture;
  await recording.expectCalls("up, with its preview", () => stack.succeed("up", "--yes"));
  await recording.expectCalls("up without changes", () => stack.expectNothingToDo());
  await recording.expectCalls("preview without changes", () => stack.succeed("preview"));
  await recording.expectCalls("refresh", () => stack.succeed("refresh", "--yes", "--skip-preview"));
  await recording.expectCalls("destroy", () => stack.succeed("destroy", "--yes", "--skip-preview"));
});

test("replacements because of a changed input, `--replace` and a taint", async () => {
  await using recording = await CallRecording.create({
    ...{ program: oneInstance(), token: tokens.live, config: { deletePolicy: "retain" } },
  });
  const { stack } = recording.fixture;
  await stack.succeed(...up);
  stack.program(oneInstance({ flavorId: "standard-4" }));
  await recording.expectCalls("preview of a changed input", () => stack.succeed("preview"));
  await recording.expectCalls("up of a changed input", () => stack.succeed(...up));
  stack.program(oneInstance({}, { deleteBeforeReplace: true }));
  await recording.expectCalls("up of a changed input, with deleteBeforeReplace", () =>
    stack.succeed(...up),
  );
  stack.program(oneInstance());
  await recording.expectCalls("up --replace", () =>
    stack.succeed(...up, "--replace", urnOf("web")),
  );
  await stack.succeed("state", "taint", urnOf("web"), "--yes");
  await recording.expectCalls("up of a tainted resource", () => stack.succeed(...up));
});

test("an alias, a renamed stack, a moved resource, and retainOnDelete", async () => {
  await using recording = await CallRecording.create({ program: oneInstance() });
  const { stack } = recording.fixture;
  await stack.succeed(...up);
  stack.program(instances({ site: { options: { aliases: [{ name: "web" }] } } }));
  await recording.expectCalls("up with an alias", () => stack.succeed(...up));
  await stack.succeed("stack", "rename", "renamed");
  await recording.expectCalls("up of a renamed stack", () => stack.succeed(...up));
  await stack.succeed("stack", "init", "other");
  await stack.succeed(
    ...["state", "move", urnOf("site", "renamed"), "--yes"],
    ...["--source", "organization/proj/renamed", "--dest", "organization/proj/other"],
  );
  await recording.expectCalls("refresh of a moved resource", () =>
    stack.succeed("refresh", "--yes", "--skip-preview", "--stack", "other"),
  );
  stack.program(instances({ site: { options: { retainOnDelete: true } } }));
  await stack.succeed("stack", "select", "other");
  await stack.configure({ baseUrl: recording.fixture.service.url });
  await recording.expectCalls("up with retainOnDelete", () => stack.succeed(...up));
  await recording.expectCalls("destroy with retainOnDelete", () => stack.destroy());
  expect(await stack.resources()).toEqual([]);
});

test("up of an existing, a new and a removed resource", async () => {
  await using recording = await CallRecording.create({ program: instances({ a: {}, b: {} }) });
  const { stack } = recording.fixture;
  await recording.expectCalls("up of two new resources", () => stack.succeed(...up));
  stack.program(instances({ a: {}, c: {} }));
  await recording.expectCalls("up of an existing, a new and a removed resource", () =>
    stack.succeed(...up),
  );
});

test("`pulumi import`, with --preview-only and without", async () => {
  await using recording = await CallRecording.create({ program: emptyProgram });
  const { stack, service } = recording.fixture;
  const { id } = service.control.insert({ name: "web-main" });
  await recording.expectCalls("import --preview-only", () =>
    stack.succeed(...importing("web", id), "--preview-only"),
  );
  await recording.expectCalls("import", () => stack.run(...importing("web", id), "--yes"));
  stack.program(oneInstance({ name: "web-main" }));
  await recording.expectCalls("up after an import", () => stack.succeed(...up));
});

testUnless(noTerminals, "`pulumi import`, declined at its prompt", async () => {
  await using recording = await CallRecording.create({ program: emptyProgram });
  const { stack, service } = recording.fixture;
  const { id } = service.control.insert({ name: "web-main" });
  await recording.expectCalls("import, declined at the prompt", async () => {
    // The prompt appears only on a terminal.
    const command = `pulumi ${importing("web", id).join(" ")} --color=never`;
    const answering =
      "until grep -q 'Do you want' screen; do sleep 0.1; done; printf '\\r'; sleep 2";
    const terminal = `env -u PULUMI_SKIP_CONFIRMATIONS script -qfec '${command}' screen`;
    const { output } = await stack.type(`touch screen; (${answering}) | ${terminal}`);
    expect(output).toMatch(/declined|cancel/);
    expect(await stack.instances()).toEqual([]);
  });
});

test("the resource option `import`, in a preview and in up", async () => {
  await using recording = await CallRecording.create({ program: emptyProgram });
  const { stack, service } = recording.fixture;
  const { id } = service.control.insert({ name: "web-main" });
  stack.program(oneInstance({ name: "web-main" }, { import: id }));
  await recording.expectCalls("preview with the option import", () => stack.succeed("preview"));
  await recording.expectCalls("up with the option import", () => stack.succeed(...up));
});

test("`.get()`, without a state and with one", async () => {
  await using recording = await CallRecording.create({ program: emptyProgram });
  const { stack, service } = recording.fixture;
  const { id, name } = service.control.insert({ name: "web-main" });
  const getting = (get: object) =>
    stack.program(instances({}, { resources: { web: { type: "compute:Instance", get } } }));
  getting({ id });
  await recording.expectCalls("preview of a get", () => stack.succeed("preview"));
  await recording.expectCalls("up of a get", () => stack.succeed(...up));
  await recording.expectCalls("second up of a get", () => stack.succeed(...up));
  await recording.expectCalls("refresh of a get", () => stack.refresh());
  getting({ id, state: { ...required, name, status: "ACTIVE" } });
  await recording.expectCalls("up of a get with a state", () => stack.succeed(...up));
  stack.program(oneInstance());
  await recording.expectCalls("up of a create in place of a get", () => stack.succeed(...up));
});

test("a destroy that the provider refuses", async () => {
  await using recording = await CallRecording.create({
    program: oneInstance(),
    token: tokens.live,
  });
  const { stack } = recording.fixture;
  await stack.succeed(...up);
  await recording.expectCalls("destroy, refused", async () => {
    expect((await stack.destroy()).code).not.toBe(0);
  });
});

test("Ctrl-C during the wait, and the up that continues it", async () => {
  await using recording = await CallRecording.create({ program: oneInstance(), service: never });
  const { stack, service } = recording.fixture;
  await recording.expectCalls("up, Ctrl-C during the wait", async () => {
    const running = stack.start(...up);
    await running.printed("PROVISIONING");
    expect((await running.end("Ctrl-C")).code).not.toBe(0);
  });
  await recording.expectCalls("up of an unfinished instance, Ctrl-C during the wait", async () => {
    const running = stack.start(...up);
    await running.printed("PROVISIONING");
    expect((await running.end("Ctrl-C")).code).not.toBe(0);
  });
  const upThatGetsReady = async () => {
    const running = stack.start(...up);
    await running.printed("PROVISIONING");
    service.control.settle();
    expect((await running.ended).code).toBe(0);
  };
  await stack.configure({ requestTimeoutSeconds: "20" });
  await recording.expectCalls("up of an unfinished instance, with other settings", upThatGetsReady);
});

test("Ctrl-C twice while the service does not answer", async () => {
  await using recording = await CallRecording.create({ program: oneInstance() });
  const { stack, service } = recording.fixture;
  const posts = { method: "POST", path: "/v2/instances" } as const;
  const hanging = service.control.fault({ ...posts, kind: "hang", acted: true });
  await recording.expectCalls("up, Ctrl-C twice during the POST", async () => {
    const running = stack.start(...up);
    await running.reached(hanging.firstHit);
    void running.ended.then(() => hanging.release());
    await running.end("Ctrl-C twice");
    expect(await stack.instances()).toEqual([]);
  });
});

test.each(["engine killed", "plugin killed"] as const)(
  "%s during the wait, and the up that follows",
  async (end) => {
    await using recording = await CallRecording.create({
      program: oneInstance(),
      service: never,
    });
    const { stack, service } = recording.fixture;
    await recording.expectCalls(`up, ${end} during the wait`, async () => {
      const running = stack.start(...up);
      await running.printed("PROVISIONING");
      if (end === "plugin killed") await running.end(end);
      else await gone(await running.killEngine("SIGKILL"));
    });
    service.control.settle();
    if (end === "engine killed") await stack.succeed("cancel", "--yes");
    await recording.expectCalls(`up after ${end} during the wait`, () => stack.succeed(...up));
  },
);

test("the import of a file with outputs, which reads nothing", async () => {
  await using recording = await CallRecording.create({ program: emptyProgram });
  const { stack, service } = recording.fixture;
  const { id, name } = service.control.insert({ name: "web-main" });
  const inputs = { ...required, name };
  const web = { type: "compute:index:Instance", name: "web", id, inputs, outputs: inputs };
  writeFileSync(join(stack.project, "import.json"), JSON.stringify({ resources: [web] }));
  await recording.expectCalls("import of a file with outputs", () =>
    stack.run("import", "--file", "import.json", "--yes"),
  );
  expect((await stack.instance()).id).toBe(id);
});

test("an attached plugin, one process with a session for each engine", async () => {
  await using recording = await CallRecording.create({ program: oneInstance() });
  const { stack } = recording.fixture;
  await recording.expectCalls("up twice with an attached plugin", async () => {
    const { PATH } = process.env;
    const env = { PATH, PULUMI_HOME: stack.home, COMPUTE_API_TOKEN: tokens.test };
    const detached = { env, detached: true };
    const attached = spawn(recording.executable, [], { ...detached, stdio: "pipe" });
    try {
      const [port] = (await once(attached.stdout.setEncoding("utf8"), "data")) as [string];
      stack.setEnv("PULUMI_DEBUG_PROVIDERS", `compute:${port.trim()}`);
      await stack.succeed(...up);
      await stack.succeed(...up);
    } finally {
      process.kill(-(attached.pid ?? 0), "SIGTERM");
    }
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
  await using recording = await CallRecording.create({ program: emptyProgram });
  const { stack, service } = recording.fixture;
  service.control.fault({ method: "POST", kind: "endsAs", status: "MIGRATING" });
  stack.javascript("");
  writeFileSync(join(stack.project, "hook.js"), errorHookProgram);
  await recording.expectCalls("up with an error hook that repeats the create", () =>
    stack.type(`'${process.execPath}' hook.js`),
  );
  expect((await stack.instances()).map(({ id }) => id)).toEqual(recording.fixture.ids());
});

test("`pulumi do --stateless`: create, patch and delete", async () => {
  const destroyPath = "/v2/instances/{id}";
  await using recording = await CallRecording.create({
    program: emptyProgram,
    service: { destroyPath },
  });
  const { stack, service } = recording.fixture;
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  const doing = (what: string, ...args: string[]) =>
    stack.succeed(
      ...["do", "--package", recording.executable, "compute:index:Instance", what],
      ...[...args, "--stateless", "--yes"],
    );
  await recording.expectCalls("do create --stateless", () =>
    doing("create", "--flavor-id=standard-2", "--image-id=debian-12", "--vpc-id=vpc-main"),
  );
  const [{ id, name } = { id: "", name: "" }] = service.control.instances();
  await recording.expectCalls("do patch --stateless", () => doing("patch", id, `--name=${name}`));
  await recording.expectCalls("do delete --stateless", () =>
    doing("delete", id, `--compute:destroy-path=${destroyPath}`),
  );
});

test("recordedCalls.json has a sentence for each recorded kind of call and answer, and no other sentences", () => {
  expect(recordedCalls).toEqual(withSentences(recordedCalls));
  expect(Object.values({ ...recordedCalls.proves, ...recordedCalls.answers })).not.toContain("");
});
