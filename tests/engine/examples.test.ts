/** The examples a person would copy, as they stand, with the language hosts they name. */
import { join } from "node:path";
import { expect, jest, test } from "@jest/globals";
import { root } from "../../tools/support/paths";
import { World } from "./support/world";

jest.setTimeout(180_000);

test.each([
  ["examples/instance", 3],
  ["examples/instance-yaml", 2],
])("%s comes up, gives its outputs, stays as it is, and is torn down", async (example, count) => {
  await using world = await World.create({ program: join(root, example) });
  const { stack, service } = world;
  if (count !== 2) await stack.succeed("config", "set", "count", String(count));

  const up = await stack.up();

  expect(up.output).toContain("PROVISIONING");
  expect(up.code).toBe(0);
  const records = service.control.instances();
  expect(records).toHaveLength(count);
  const outputs = await stack.outputs();
  const [names, addresses] = [outputs["names"], outputs["ipv4"]] as string[][];
  expect(names?.toSorted()).toEqual(records.map(({ name }) => name).toSorted());
  expect(addresses?.toSorted()).toEqual(records.map(({ ipv4_public }) => ipv4_public).toSorted());
  expect(outputs["networks"]).toEqual(
    Array.from({ length: count }, () => [expect.objectContaining({ type: "private" })]),
  );
  // The script of the servers is a secret input.
  expect(JSON.stringify(await stack.resources())).not.toContain("nginx");

  const again = await stack.run("up", "--yes", "--skip-preview", "--expect-no-changes");
  expect(again.code).toBe(0);
  expect((await stack.destroy()).code).toBe(0);
  expect(await stack.resources()).toEqual([]);
});
