/** Tests the real engine with states of released versions, and with a very large state. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { placed, recordedStates } from "../lifecycle/fixtures/states";
import { instances, oneInstance } from "./support/programs";
import { Fixture } from "./support/fixture";

/** Converts secrets of the plugin protocol to those of a state export with `--show-secrets`. */
function asExported(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asExported);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  return "4dabf18193072939515e22adb298388d" in fields
    ? {
        "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
        plaintext: JSON.stringify(fields["value"]),
      }
    : Object.fromEntries(Object.entries(fields).map(([key, item]) => [key, asExported(item)]));
}

/** Unwraps secrets, because a program has plain values. */
function plain(inputs: unknown): Record<string, unknown> {
  const fields = Object.entries(inputs as Record<string, { value?: unknown }>);
  return Object.fromEntries(
    fields.map(([key, value]) => [
      key,
      typeof value === "object" && "value" in value ? value.value : value,
    ]),
  );
}

test("a preview of states that released versions wrote shows no replacement", async () => {
  await using fixture = await Fixture.create({ program: oneInstance() });
  const states = recordedStates().map((state) => placed(state, fixture.service.url));
  const resources = Object.fromEntries(
    states.map(({ name, program }) => [name, { inputs: plain(program) }]),
  );
  const { stack } = fixture;
  // This `up` writes the provider resource as this engine does.
  await stack.up();
  const file = join(stack.folder, "state.json");
  await stack.succeed("stack", "export", "--show-secrets", "--file", file);
  const exported = JSON.parse(readFileSync(file, "utf8")) as {
    deployment: { resources: Record<string, unknown>[] };
  };
  const web = exported.deployment.resources.pop();
  for (const [index, { name, held, listed }] of states.entries()) {
    const id = `${held.id}-${index}`;
    fixture.service.control.insert({ ...listed, id });
    exported.deployment.resources.push({
      ...web,
      urn: String(web?.["urn"]).replace(/::web$/, `::${name}`),
      id,
      inputs: asExported(held.inputs),
      outputs: asExported(held.outputs),
      ...(held.unfinished ? { initErrors: ["not finished"] } : {}),
    });
  }
  writeFileSync(file, JSON.stringify(exported));
  await stack.succeed("stack", "import", "--file", file);
  stack.program(instances(resources));

  const { code, output } = await stack.preview("--diff");

  expect(output).not.toMatch(/replace|create|delete/i);
  expect(output).toMatch(/~ 2 to update/);
  expect(code).toBe(0);
  expect(fixture.posts()).toBe(1);
});

test("an unfinished instance with 1 MB of user data stays in the state, and the next up continues with it", async () => {
  const userData = "# a line of a long script\n".repeat(40_000);
  const timeouts = { customTimeouts: { create: "5s" } };
  await using fixture = await Fixture.create({
    program: oneInstance({ userData }, timeouts),
    service: { provisioningSeconds: Infinity },
  });
  const { stack } = fixture;

  const first = await stack.up();

  expect(first.code).not.toBe(0);
  const [id] = fixture.ids();
  expect((await stack.instance()).id).toBe(id);
  fixture.service.control.settle();
  for (const it of fixture.service.control.instances())
    fixture.service.control.setStatus(it.id, "ACTIVE");
  expect((await stack.up()).code).toBe(0);
  expect((await stack.instance()).id).toBe(id);
  expect(fixture.posts()).toBe(1);
});
