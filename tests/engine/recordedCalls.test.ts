/**
 * Records the conversations of the real engine with the plugin (provider/testing/conversations), and compares them with those
 * of the engine at hand. provider/engine.test.ts replays them, and tests/simulation/engine.test.ts tests its model of
 * the engine with them. recordedCalls.json says what each kind of call proves.
 *
 *     COMPUTE_RECORD=1 node_modules/.bin/node node_modules/.bin/jest tests/engine/recordedCalls
 *
 * A new call gets an empty `is`, and a new kind of call an empty sentence. A person has to write them. If an engine makes
 * other calls, compare the provider and the model with them.
 */
import { afterAll, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeUnless, testUnless } from "../../tools/support/unless";
import { installPlugin } from "../../tools/build";
import { flags, noDo, unattended } from "./support/do";
import { hangs, never } from "./support/fixture";
import { inlineProgram } from "./support/inlineProgram";
import { endGroup, noTerminals } from "./support/processes";
import { emptyProgram, instances, oneInstance, required } from "./support/programs";
import { unexplained } from "./support/recordedCalls/conversation";
import {
  noComparison,
  recordedCalls,
  recording,
  saveRecorded,
  withSentences,
} from "./support/recordedCalls/recording";

import { plugin, tokens } from "./support/stack";

afterAll(saveRecorded);

const instanceType = "compute:index:Instance";
const urnOf = (name: string, stack = "dev") =>
  `urn:pulumi:${stack}::proj::${instanceType}::${name}`;
const importing = (name: string, id: string) => ["import", instanceType, name, id];

describeUnless(noComparison, "the recorded calls", () => {
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

  test("a change in place, an ignored change, and --target", async () => {
    await using fixture = await recording({ program: oneInstance() });
    const { stack, expectCalls } = fixture;
    await stack.up();
    const fallback = { fallbackFlavorIds: ["standard-4"] };
    stack.program(oneInstance(fallback));
    await expectCalls("preview of a change in place", () => stack.preview());
    await expectCalls("up of a change in place", () => stack.up());
    const options = { ignoreChanges: ["flavorId"] };
    stack.program(oneInstance({ ...fallback, flavorId: "premium-8" }, options));
    await expectCalls("up of an ignored change", () => stack.up());
    stack.program(instances({ web: { inputs: { flavorId: "premium-8" } }, other: {} }));
    await expectCalls("up --target", () => stack.up("--target", urnOf("other")));
    await expectCalls("refresh --target", () => stack.refresh("--target", urnOf("web")));
    await expectCalls("destroy --target", () => stack.destroy("--target", urnOf("web")));
  });

  test("a refresh as part of up, a refresh and a destroy that run the program, and an instance that is gone", async () => {
    await using fixture = await recording();
    const { stack, control, expectCalls } = fixture;
    await stack.up();
    await expectCalls("up --refresh", () => stack.up("--refresh"));
    await expectCalls("preview --refresh", () => stack.preview("--refresh"));
    await expectCalls("refresh --run-program", () => stack.refresh("--run-program"));
    await expectCalls("refresh, with its preview", () => stack.type("pulumi refresh"));
    await expectCalls("destroy --run-program", () => stack.destroy("--run-program"));
    await stack.up();
    for (const id of fixture.ids()) control.remove(id);
    await expectCalls("refresh of an instance that is gone", () => stack.refresh());
  });

  test.each([
    [
      "up of a changed input with a dependent, with deleteBeforeReplace",
      { deletePolicy: "retain" },
    ],
    ["up of a changed input with a dependent, refused", { deletePolicy: "fail" }],
  ] as const)("%s", async (command, config) => {
    const program = (flavorId: string) =>
      instances({
        web: { inputs: { flavorId }, options: { deleteBeforeReplace: true } },
        dependent: { inputs: { name: "after-${web.name}" } },
      });
    await using fixture = await recording({ program: program("standard-2"), config });
    const { stack, expectCalls } = fixture;
    await stack.up();
    stack.program(program("standard-4"));
    await expectCalls(command, () =>
      config.deletePolicy === "fail" ? stack.fail("up") : stack.up(),
    );
  });

  testUnless(noDo, "`pulumi do` without a stack", async () => {
    await using fixture = await recording({ program: emptyProgram });
    const { stack, service, expectCalls } = fixture;
    stack.setEnv("COMPUTE_BASE_URL", service.url);
    const doing = (...args: string[]) => ["do", "--package", plugin, instanceType, ...args];
    const create = doing("create", ...unattended, ...flags);
    await expectCalls("do create --stateless", () => stack.succeed(...create));
    const [id = ""] = fixture.ids();
    await expectCalls("do read", () => stack.succeed(...doing("read", id)));
    await expectCalls("do list", () => stack.succeed(...doing("list")));
    const upsert = doing("upsert", id, ...unattended, ...flags);
    await expectCalls("do upsert --stateless", () => stack.fail(...upsert));
    const remove = doing("delete", id, ...unattended);
    await expectCalls("do delete --stateless", () => stack.fail(...remove));
  });

  testUnless(noDo, "`pulumi do` with a stack", async () => {
    await using fixture = await recording({ program: emptyProgram });
    const { stack, expectCalls } = fixture;
    installPlugin(stack.home);
    const run = (...args: string[]) => stack.succeed("do", instanceType, ...args, "--yes");
    await expectCalls("do create", () => run("create", "web", ...flags));
    await expectCalls("do upsert", () => run("upsert", "web", ...flags));
    await expectCalls("do patch", () => run("patch", "web", "--flavor-id=standard-4"));
    await expectCalls("do delete", () => run("delete", "web"));
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
    // Each waits for the one before it, or the calls would come in any order.
    const after = (name: string) => ({ options: { dependsOn: [`\${${name}}`] } });
    await using fixture = await recording({ program: instances({ a: {}, b: after("a") }) });
    const { stack, expectCalls } = fixture;
    await expectCalls("up of two new resources", () => stack.up());
    stack.program(instances({ a: {}, c: after("a") }));
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
    const web = { type: instanceType, name: "web", id, inputs, outputs: inputs };
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

  test("an error hook makes the engine repeat a create", async () => {
    await using fixture = await recording({ program: emptyProgram });
    const { stack, service, expectCalls } = fixture;
    service.control.fault({ method: "POST", kind: "endsAs", status: "MIGRATING" });
    const up = inlineProgram(
      stack,
      `
    const hook = new pulumi.ErrorHook("again", ({ errors }) => errors.length < 2);
    const options = { hooks: { onError: [hook] } };
    new pulumi.CustomResource("compute:index:Instance", "web", ${JSON.stringify(required)}, options);
  `,
    );
    await expectCalls("up with an error hook that repeats the create", () => stack.typeFailing(up));
    expect((await stack.instances()).map(({ id }) => id)).toEqual(fixture.ids());
  });
});

test("each call says what it is about, and each kind of call and answer has its sentence", () => {
  expect(recordedCalls).toEqual(withSentences(recordedCalls));
  expect(Object.values({ ...recordedCalls.proves, ...recordedCalls.answers })).not.toContain("");
  expect(unexplained()).toEqual([]);
});
