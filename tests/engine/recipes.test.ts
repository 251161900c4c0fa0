/**
 * Follows the recipes of CONTRIBUTING.md to their end, in a copy of the sources. A new input reaches the service even if a
 * version that did not know it made the instance (G5: a change is shown before it happens), a new output is in the state, a
 * new setting has its effect, and a new command runs.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { executable } from "../../provider/process/executable";
import { sectionOf } from "../../tools/docs/markdown";
import { readPage } from "../../tools/docs/pages";
import { root } from "../../tools/support/paths";
import { instances, type Inputs } from "./support/programs";
import { ChangedCopy } from "./support/recipes/changedCopy";
import { recipes, type Edit } from "./support/recipes/edits";
import { pluginsAt, Stack } from "./support/stack";

const generate = "npm run generate";
const isPlace = (name: string) => name === generate || existsSync(join(root, name));

/** Returns what each step of a recipe has in backticks. */
function stepsOf(heading: string): string[][] {
  const section = sectionOf(readPage("CONTRIBUTING.md"), heading);
  const items = section.split(/^\d+\. /m).slice(1);
  const steps = items.map((item) => item.split("\n\n")[0] ?? "");
  return steps.map((step) => [...step.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
}

describe.each(Object.entries<readonly Edit[]>(recipes))("%s", (heading, edits) => {
  const steps = stepsOf(heading);

  test("each step names the files that have to be edited, and no others", () => {
    const edited = edits.map(({ step, where }) => {
      const folder = steps[step - 1]?.find((name) => name.endsWith("/") && where.startsWith(name));
      return `${step}. ${folder ?? where}`;
    });
    const named = steps.flatMap((names, index) =>
      names.filter(isPlace).map((name) => `${index + 1}. ${name}`),
    );
    expect([...new Set(named)].sort()).toEqual([...new Set(edited)].sort());
  });

  test("what else a step names is in its files", () => {
    for (const [index, names] of steps.entries()) {
      const files = edits.filter(({ step, where, create }) => {
        return step === index + 1 && where !== generate && create === undefined;
      });
      const text = files.map(({ where }) => readFileSync(join(root, where), "utf8")).join("\n");
      for (const name of names.filter((other) => !isPlace(other)))
        expect(text).toMatch(new RegExp(`\\b${name.split(".").at(-1)}\\b`));
    }
  });
});

describe("the changed sources", () => {
  let copy: ChangedCopy;
  const edits = Object.values<readonly Edit[]>(recipes).flat();
  beforeAll(async () => {
    copy = new ChangedCopy();
    await copy.build(edits);
  });
  afterAll(() => copy[Symbol.dispose]());

  /** Returns a program of one instance, for the plugin of the version before or the changed one. */
  const before = (inputs: Inputs = {}, options: Inputs = {}) =>
    pluginsAt(join(root, "bin")) + instances({ web: { inputs, options } });
  const now = (inputs: Inputs = {}, rest: { outputs?: Inputs } = {}) =>
    pluginsAt(copy.bin) + instances({ web: { inputs } }, rest);

  /** Starts the changed emulator, and makes a stack for it. */
  async function begun(program: string) {
    await using started = new AsyncDisposableStack();
    const service = started.use(await copy.startEmulator());
    const config = { destroyPath: "/v2/instances/{id}", settlingSeconds: "1" };
    const baseUrl = service.url;
    const stack = await Stack.create({ program, namesPlugin: false, baseUrl, config });
    started.use(stack);
    const kept = started.move();
    return { service, stack, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  }

  test("they pass the type check, and the quick tests that depend on them", async () => {
    const edited = edits.map(({ where }) => where).filter((where) => where !== generate);
    // `core` would build an engine in the copy. The tests below run it with the engine that is there.
    const projects = ["unit", "contract", "explorer", "simulation", "lifecycle"];
    const selection = ["--selectProjects", ...projects, "--findRelatedTests", ...new Set(edited)];
    await Promise.all([
      copy.run("typescript/bin/tsc", "--noEmit", "-p", "."),
      copy.run("jest/bin/jest.js", "--silent", ...selection),
    ]);
    // A hundred files, each of which may take as long as it needs.
  }, 3_600_000);

  test("an instance that the version before made is unchanged until the program sets the new input, which replaces it and is sent; a refresh shows the new output", async () => {
    await using world = await begun(before());
    const { service, stack } = world;
    await stack.up();
    const made = await service.instances();

    stack.program(now());
    await stack.expectNothingToDo();
    expect(await stack.refresh("--diff")).toMatch(/\+ region *: "eu-1"/);
    expect((await stack.instance()).outputs).toMatchObject({ region: "eu-1" });
    expect(await service.instances()).toEqual(made);

    const outputs = { region: "${web.region}", rack: "${web.rack}" };
    stack.program(now({ placementGroup: "group-1" }, { outputs }));
    const preview = await stack.preview("--diff");
    expect(preview).toMatch(/\+-compute:index:Instance: \(replace\)/);
    expect(preview).toMatch(/\+ placementGroup *: "group-1"/);
    await stack.up();

    const [replacement, ...others] = await service.instances();
    expect(others).toEqual([]);
    expect(replacement?.id).not.toBe(made[0]?.id);
    expect(replacement?.request).toMatchObject({ placement_group: "group-1" });
    expect(await stack.instance()).toMatchObject({
      id: replacement?.id,
      outputs: { placementGroup: "group-1" },
    });
    expect(await stack.outputs()).toEqual({ region: "eu-1", rack: "r-7" });
    await stack.expectNothingToDo();
  });

  test("of an instance that the version before imported, the new input is recorded as the program's claim", async () => {
    await using world = await begun("resources: {}\n");
    const { service, stack } = world;
    const { id, name } = await service.insert("web-by-hand");
    stack.program(before({ name }, { import: id }));
    await stack.up();

    stack.program(now({ name, placementGroup: "group-1" }));
    expect(await stack.up()).toContain("the state records placementGroup as the program says");

    expect(await stack.instance()).toMatchObject({ id, outputs: { placementGroup: "group-1" } });
    await stack.expectNothingToDo();
    expect((await service.requests()).filter(({ method }) => method !== "GET")).toEqual([]);
  });

  test("the input that the service lists back is sent, and its drift is shown, ends, and replaces nothing", async () => {
    const tags = { tier: "db", role: "main" };
    await using world = await begun(now({ name: "web", tags }));
    const { service, stack } = world;
    await stack.up();
    await stack.expectNothingToDo();
    const [made] = await service.instances();
    expect(made?.request).toMatchObject({ tags });

    await service.rename(made?.id ?? "", "renamed");
    expect(await stack.refresh("--diff")).toMatch(/~ host *: "web" => "renamed"/);
    const listed = { ...tags, host: "renamed" };
    expect((await stack.instance()).outputs).toMatchObject({ tags: listed });
    await stack.expectNothingToDo();
    stack.program(now({ name: "web", tags: listed }));
    await stack.up();
    expect((await service.instances()).map(({ id }) => id)).toEqual([made?.id]);
  });

  test("what the service lists of an input that the program did not give is taken over in place", async () => {
    await using world = await begun(now({ name: "web" }));
    const { service, stack } = world;
    await stack.up();
    const [made] = await service.instances();
    await service.rename(made?.id ?? "", "renamed");
    await stack.refresh();
    const { tags } = (await stack.instance()).outputs ?? {};
    expect(tags).toEqual({ host: "renamed" });
    stack.program(now({ name: "web", tags }));
    await stack.up();
    expect((await service.instances()).map(({ id }) => id)).toEqual([made?.id]);
  });

  test("the new command runs", async () => {
    await using world = await begun(now());
    const command = join(copy.bin, executable);
    expect(await world.stack.type(`'${command}' statuses`)).toContain("PROVISIONING");
  });

  test("the new setting has its effect, is an option of the commands, and is refused by its name if it is wrong", async () => {
    await using world = await begun(now());
    const { service, stack } = world;
    await stack.configure({ pageSize: "7" });
    await stack.up();
    const limits = (await service.requests()).map(({ query }) => query["limit"]);
    expect(new Set(limits.filter((limit) => limit !== undefined))).toEqual(new Set(["7"]));

    await stack.configure({ pageSize: "nine" });
    expect(await stack.fail("preview")).toContain("compute:pageSize must be a whole number");
    const command = join(copy.bin, executable);
    expect(await stack.type(`'${command}' doctor --help`)).toContain("--page-size");
  });
});
