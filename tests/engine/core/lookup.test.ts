/**
 * Tests what reads a server that the stack does not manage: `.get()` and `exists`. From engine 3.274 on, their Reads are the same
 * bytes as those of an import.
 */
import { expect, test } from "@jest/globals";
import { testUnless } from "../../../tools/support/unless";
import { Fixture } from "../support/fixture";
import { inlineProgram } from "../support/inlineProgram";
import { instances, required } from "../support/programs";
import { missingBefore, tokens } from "../support/stack";

const found = { id: "i-by-hand", name: "web-by-hand" } as const;

/** A resource of a program, which reads the server of this id. */
const getting = (id: string) => ({ type: "compute:Instance", get: { id } });

test("`.get()` shows a server that is PROVISIONING, and is no drift", async () => {
  await using fixture = await Fixture.create({
    program: instances(
      {},
      { resources: { web: getting(found.id) }, outputs: { status: "${web.status}" } },
    ),
  });
  const { stack, control } = fixture;
  control.insert({ ...found, status: "PROVISIONING" });
  for (const status of ["PROVISIONING", "ACTIVE"]) {
    control.setStatus(found.id, status);
    // Whoever wants to wait for it does so where it is managed.
    expect(await stack.up()).not.toMatch(/warning|error|PROVISIONING, /);
    expect(await stack.outputs()).toEqual({ status });
    const check = "pulumi refresh --preview-only --expect-no-changes --non-interactive";
    await stack.type(`env -u PULUMI_SKIP_CONFIRMATIONS ${check}`);
    expect(await stack.refresh()).not.toMatch(/warning|error/);
  }
});

test.each([
  ["reads the server for the first time", []],
  ["refreshes what it has read", ["--refresh"]],
])(
  "a create in doubt goes on with its server beside a `.get()` that %s",
  async (_what, options) => {
    await using fixture = await Fixture.create({ token: tokens.live });
    const { stack } = fixture;
    await fixture.endUpInPost("both killed");
    await stack.succeed("cancel", "--yes");
    const [id = ""] = fixture.ids();
    const resources = { found: getting(id) };
    if (options.length > 0) {
      stack.program(instances({}, { resources }));
      await stack.up();
    }
    stack.program(instances({ web: { options: { dependsOn: ["${found}"] } } }, { resources }));

    await stack.up(...options);

    expect(fixture.ids()).toEqual([id]);
    expect(await stack.ids()).toEqual([id, id]);
    await stack.expectNothingToDo();
  },
);

testUnless(
  missingBefore("3.274.0", "`exists`"),
  "`exists` says whether a server exists, and a create in doubt goes on with the server that was asked about",
  async () => {
    await using fixture = await Fixture.create({ token: tokens.live });
    const { stack } = fixture;
    await fixture.endUpInPost("both killed");
    await stack.succeed("cancel", "--yes");
    const [id = ""] = fixture.ids();
    const run = inlineProgram(
      stack,
      `
  const exists = (id) => pulumi.runtime.existsResource("compute:index:Instance", id, {}, {}, undefined);
  const there = exists("${id}");
  const web = there.apply(() =>
    new pulumi.CustomResource("compute:index:Instance", "web", ${JSON.stringify(required)}).id);
  return { there, missing: exists("i-nowhere"), web };
`,
    );

    await stack.type(run);

    expect(await stack.outputs()).toEqual({ there: true, missing: false, web: id });
    expect(fixture.ids()).toEqual([id]);
  },
);
