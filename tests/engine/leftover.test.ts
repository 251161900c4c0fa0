/** docs/gitops.md, "A run stops for a leftover": nothing is made twice (G2), and what to type is said. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { printedCommands } from "../support/printed";
import { oneInstance } from "./support/programs";
import { World } from "./support/world";

test("killed during a create, its ledger gone: the next run stops, and goes on after what it says to type", async () => {
  await using world = await World.create({ program: oneInstance(), config: { leftovers: "fail" } });
  const { stack, service } = world;
  const creates = { method: "POST", path: "/v2/instances" };
  const hanging = service.control.fault({ ...creates, kind: "hang", acted: true });
  const up = stack.start("up", "--yes", "--skip-preview");
  await up.reached(hanging.firstHit);
  await up.end("both killed", () => hanging.release());
  const [left] = world.ids();
  rmSync(join(stack.home, "compute"), { recursive: true });

  const stopped = await stack.upAfterKill();
  expect(stopped.output).toContain('nothing was created, since compute:leftovers is "fail"');
  expect(stopped.code).not.toBe(0);
  const [line] = printedCommands(stopped.output, "Instance web ");
  const imported = await stack.type(`${line} --yes --generate-code=false`);
  expect(imported.code).toBe(0);
  expect((await stack.up()).code).toBe(0);
  expect((await stack.instance()).id).toBe(left);
  expect(world.posts()).toBe(1);
});
