/**
 * The calls that the real engine makes to the plugin in each operation that the model of the engine
 * (tests/explorer/engine.ts) knows, recorded in conversations.json with what each kind of call proves.
 * An engine that makes other calls fails here by the name of the operation. Then compare the model, and
 * record anew:
 *
 *     COMPUTE_RECORD=1 node_modules/.bin/node node_modules/.bin/jest tests/engine/conversations
 *
 * A new kind of call gets an empty sentence, which is to be written by hand.
 */
import { afterAll, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { testUnless } from "../../tools/support/unless";
import {
  Conversation,
  conversations,
  saveRecorded,
  withSentences,
} from "./support/conversations/conversation";
import { gone, noTerminals } from "./support/processes";
import { instances, oneInstance, required } from "./support/programs";
import { tokens } from "./support/stack";

afterAll(saveRecorded);

const nothing = "resources: {}\n";
const never = { provisioningSeconds: Infinity };
const up = ["up", "--yes", "--skip-preview"];
const urnOf = (name: string, stack = "dev") =>
  `urn:pulumi:${stack}::proj::compute:index:Instance::${name}`;
const importing = (name: string, id: string) => ["import", "compute:index:Instance", name, id];

test("an instance's life: up, again, preview, refresh, destroy", async () => {
  await using conversation = await Conversation.create({ program: oneInstance() });
  const { stack } = conversation.world;
  await conversation.expectCalls("up, with its preview", () => stack.succeed("up", "--yes"));
  await conversation.expectCalls("up of what is there", () => stack.expectNothingToDo());
  await conversation.expectCalls("preview of what is there", () => stack.succeed("preview"));
  await conversation.expectCalls("refresh", () =>
    stack.succeed("refresh", "--yes", "--skip-preview"),
  );
  await conversation.expectCalls("destroy", () =>
    stack.succeed("destroy", "--yes", "--skip-preview"),
  );
});

test("replacements: an input changed, `--replace`, a taint", async () => {
  await using conversation = await Conversation.create({
    ...{ program: oneInstance(), token: tokens.live, config: { deletePolicy: "retain" } },
  });
  const { stack } = conversation.world;
  await stack.succeed(...up);
  stack.program(oneInstance({ flavorId: "standard-4" }));
  await conversation.expectCalls("preview of a changed input", () => stack.succeed("preview"));
  await conversation.expectCalls("up of a changed input", () => stack.succeed(...up));
  stack.program(oneInstance({}, { deleteBeforeReplace: true }));
  await conversation.expectCalls("up of a changed input, with deleteBeforeReplace", () =>
    stack.succeed(...up),
  );
  stack.program(oneInstance());
  await conversation.expectCalls("up --replace", () =>
    stack.succeed(...up, "--replace", urnOf("web")),
  );
  await stack.succeed("state", "taint", urnOf("web"), "--yes");
  await conversation.expectCalls("up of what is tainted", () => stack.succeed(...up));
});

test("another name for the same: an alias, a stack renamed, a resource moved; and retainOnDelete", async () => {
  await using conversation = await Conversation.create({ program: oneInstance() });
  const { stack } = conversation.world;
  await stack.succeed(...up);
  stack.program(instances({ site: { options: { aliases: [{ name: "web" }] } } }));
  await conversation.expectCalls("up with an alias", () => stack.succeed(...up));
  await stack.succeed("stack", "rename", "renamed");
  await conversation.expectCalls("up of a renamed stack", () => stack.succeed(...up));
  await stack.succeed("stack", "init", "other");
  await stack.succeed(
    ...["state", "move", urnOf("site", "renamed"), "--yes"],
    ...["--source", "organization/proj/renamed", "--dest", "organization/proj/other"],
  );
  await conversation.expectCalls("refresh of a moved resource", () =>
    stack.succeed("refresh", "--yes", "--skip-preview", "--stack", "other"),
  );
  stack.program(instances({ site: { options: { retainOnDelete: true } } }));
  await stack.succeed("stack", "select", "other");
  await stack.configure({ baseUrl: conversation.world.service.url });
  await conversation.expectCalls("up with retainOnDelete", () => stack.succeed(...up));
  await conversation.expectCalls("destroy with retainOnDelete", () => stack.destroy());
  expect(await stack.resources()).toEqual([]);
});

test("siblings: what is new is made while what is there is compared", async () => {
  await using conversation = await Conversation.create({ program: instances({ a: {}, b: {} }) });
  const { stack } = conversation.world;
  await conversation.expectCalls("up of two", () => stack.succeed(...up));
  stack.program(instances({ a: {}, c: {} }));
  await conversation.expectCalls("up of one that is there, one new, one dropped", () =>
    stack.succeed(...up),
  );
});

test("`pulumi import`: previewed, and done", async () => {
  await using conversation = await Conversation.create({ program: nothing });
  const { stack, service } = conversation.world;
  const { id } = service.control.insert({ name: "web-main" });
  await conversation.expectCalls("import --preview-only", () =>
    stack.succeed(...importing("web", id), "--preview-only"),
  );
  await conversation.expectCalls("import", () => stack.run(...importing("web", id), "--yes"));
  stack.program(oneInstance({ name: "web-main" }));
  await conversation.expectCalls("up after an import", () => stack.succeed(...up));
});

testUnless(noTerminals, "`pulumi import`, and no at its prompt", async () => {
  await using conversation = await Conversation.create({ program: nothing });
  const { stack, service } = conversation.world;
  const { id } = service.control.insert({ name: "web-main" });
  await conversation.expectCalls("import, answered no", async () => {
    // The prompt wants a terminal.
    const command = `pulumi ${importing("web", id).join(" ")} --color=never`;
    const answering =
      "until grep -q 'Do you want' screen; do sleep 0.1; done; printf '\\r'; sleep 2";
    const terminal = `env -u PULUMI_SKIP_CONFIRMATIONS script -qfec '${command}' screen`;
    const { output } = await stack.type(`touch screen; (${answering}) | ${terminal}`);
    expect(output).toMatch(/declined|cancel/);
    expect(await stack.instances()).toEqual([]);
  });
});

test("the option `import`: previewed, and done", async () => {
  await using conversation = await Conversation.create({ program: nothing });
  const { stack, service } = conversation.world;
  const { id } = service.control.insert({ name: "web-main" });
  stack.program(oneInstance({ name: "web-main" }, { import: id }));
  await conversation.expectCalls("preview with the option import", () => stack.succeed("preview"));
  await conversation.expectCalls("up with the option import", () => stack.succeed(...up));
});

test("`.get()`, without and with a state", async () => {
  await using conversation = await Conversation.create({ program: nothing });
  const { stack, service } = conversation.world;
  const { id, name } = service.control.insert({ name: "web-main" });
  const getting = (get: object) =>
    stack.program(instances({}, { resources: { web: { type: "compute:Instance", get } } }));
  getting({ id });
  await conversation.expectCalls("preview of a get", () => stack.succeed("preview"));
  await conversation.expectCalls("up of a get", () => stack.succeed(...up));
  await conversation.expectCalls("up of a get that is there", () => stack.succeed(...up));
  await conversation.expectCalls("refresh of a get", () => stack.refresh());
  getting({ id, state: { ...required, name, status: "ACTIVE" } });
  await conversation.expectCalls("up of a get with a state", () => stack.succeed(...up));
  stack.program(oneInstance());
  await conversation.expectCalls("up of a create in the place of a get", () =>
    stack.succeed(...up),
  );
});

test("a destroy that is refused", async () => {
  await using conversation = await Conversation.create({
    program: oneInstance(),
    token: tokens.live,
  });
  const { stack } = conversation.world;
  await stack.succeed(...up);
  await conversation.expectCalls("destroy, refused", async () => {
    expect((await stack.destroy()).code).not.toBe(0);
  });
});

test("Ctrl-C during the wait, and the up that goes on", async () => {
  await using conversation = await Conversation.create({ program: oneInstance(), service: never });
  const { stack, service } = conversation.world;
  await conversation.expectCalls("up, Ctrl-C during the wait", async () => {
    const running = stack.start(...up);
    await running.printed("PROVISIONING");
    expect((await running.end("Ctrl-C")).code).not.toBe(0);
  });
  await conversation.expectCalls("up of what is unfinished, Ctrl-C during the wait", async () => {
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
  await conversation.expectCalls("up of what is unfinished, with other settings", upThatGetsReady);
});

test("Ctrl-C twice while the service does not answer", async () => {
  await using conversation = await Conversation.create({ program: oneInstance() });
  const { stack, service } = conversation.world;
  const posts = { method: "POST", path: "/v2/instances" } as const;
  const hanging = service.control.fault({ ...posts, kind: "hang", acted: true });
  await conversation.expectCalls("up, Ctrl-C twice during the POST", async () => {
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
    await using conversation = await Conversation.create({
      program: oneInstance(),
      service: never,
    });
    const { stack, service } = conversation.world;
    await conversation.expectCalls(`up, ${end} during the wait`, async () => {
      const running = stack.start(...up);
      await running.printed("PROVISIONING");
      if (end === "plugin killed") await running.end(end);
      else await gone(await running.killEngine("SIGKILL"));
    });
    service.control.settle();
    if (end === "engine killed") await stack.succeed("cancel", "--yes");
    await conversation.expectCalls(`up after one with ${end}`, () => stack.succeed(...up));
  },
);

test("an import file with outputs, for which nothing is read", async () => {
  await using conversation = await Conversation.create({ program: nothing });
  const { stack, service } = conversation.world;
  const { id, name } = service.control.insert({ name: "web-main" });
  const inputs = { ...required, name };
  const web = { type: "compute:index:Instance", name: "web", id, inputs, outputs: inputs };
  writeFileSync(join(stack.project, "import.json"), JSON.stringify({ resources: [web] }));
  await conversation.expectCalls("import of a file with outputs", () =>
    stack.run("import", "--file", "import.json", "--yes"),
  );
  expect((await stack.instance()).id).toBe(id);
});

test("an attached plugin: a process, and a session for each engine", async () => {
  await using conversation = await Conversation.create({ program: oneInstance() });
  const { stack } = conversation.world;
  await conversation.expectCalls("up twice with an attached plugin", async () => {
    const { PATH } = process.env;
    const env = { PATH, PULUMI_HOME: stack.home, COMPUTE_API_TOKEN: tokens.test };
    const detached = { env, detached: true };
    const attached = spawn(conversation.executable, [], { ...detached, stdio: "pipe" });
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
 * A program with an error hook, which the language host at hand does not know. By the Automation API the
 * engine asks the program without a language host.
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

test("an error hook asks for the same create once more", async () => {
  await using conversation = await Conversation.create({ program: nothing });
  const { stack, service } = conversation.world;
  service.control.fault({ method: "POST", kind: "endsAs", status: "MIGRATING" });
  stack.javascript("");
  writeFileSync(join(stack.project, "hook.js"), errorHookProgram);
  await conversation.expectCalls("up with an error hook that asks once more", () =>
    stack.type(`'${process.execPath}' hook.js`),
  );
  expect((await stack.instances()).map(({ id }) => id)).toEqual(conversation.world.ids());
});

test("`pulumi do --stateless`: create, patch and delete", async () => {
  await using conversation = await Conversation.create({ program: nothing });
  const { stack, service } = conversation.world;
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  const doing = (what: string, ...args: string[]) =>
    stack.succeed(
      ...["do", "--package", conversation.executable, "compute:index:Instance", what],
      ...[...args, "--stateless", "--yes"],
    );
  await conversation.expectCalls("do create --stateless", () =>
    doing("create", "--flavor-id=standard-2", "--image-id=debian-12", "--vpc-id=vpc-main"),
  );
  const [id = ""] = conversation.world.ids();
  await conversation.expectCalls("do patch --stateless", () =>
    doing("patch", id, "--flavor-id=standard-4"),
  );
  await conversation.expectCalls("do delete --stateless", () => doing("delete", id));
});

test("every kind of call and of answer has a sentence on what it proves, and each sentence its call", () => {
  expect(conversations).toEqual(withSentences(conversations));
  expect(Object.values({ ...conversations.proves, ...conversations.answers })).not.toContain("");
});
