/** Tests how `settle` ends, and what it reads, with a stand-in for the Pulumi CLI that takes no changes. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "@jest/globals";
import { settleCommand } from "../../provider/advice";
import { generatedName } from "../../provider/instance/naming";
import { typed } from "../../cli/testing/typed";
import {
  fakePulumi,
  pulumiCommands,
  urnOf,
  type HeldInstance,
  type PendingCreate,
} from "./support/fakePulumi";
import { leaveInDoubt } from "../../provider/testing/ledgerRecord";
import { liveToken, test, type World } from "./support/world";

const scope = "scope-dev";
const origin = { tokenKind: "live" };

/** Lists a live instance with the tag of a resource, and returns it as a state has it. */
function taggedInstance({ service }: World, id: string, resource: string): HeldInstance {
  const name = generatedName(urnOf(resource), scope, new TextEncoder().encode(id.padEnd(32)));
  service.control.insert({ id, name, tokenKind: "live" });
  return { name: resource, id, origin };
}

/** Types `settle --yes` for the stack `dev` with these instances, beside eight other stacks. */
async function settle(
  world: World,
  held: HeldInstance[],
  {
    options = [],
    pending = [],
    meanwhile,
  }: {
    options?: string[];
    pending?: PendingCreate[];
    /** A command of the shell, for each time when a state is read again. */
    meanwhile?: string;
  } = {},
) {
  const others = Array.from({ length: 8 }, (_, n) => [`other-${n}`, {}] as const);
  const stacks = { dev: { held, pending, providers: [scope] }, ...Object.fromEntries(others) };
  // The CLI is asked twice for a configuration with a secret.
  const config = { "compute:settlingSeconds": { value: "1", secret: true } };
  const path = fakePulumi(world, stacks, { selected: "dev", config });
  if (meanwhile !== undefined) {
    const script = join(path, "pulumi");
    const [shell = "", ...answers] = readFileSync(script, "utf8").split("\n");
    const again = `case "$*" in "stack export "*) [ -e '${path}/read' ] && ${meanwhile}; touch '${path}/read';; esac`;
    writeFileSync(script, [shell, again, ...answers].join("\n"));
  }
  const env = world.env({ PATH: `${path}:/usr/bin:/bin`, COMPUTE_API_TOKEN: liveToken });
  const { code, lines, warnings } = await typed(["settle", "--yes", ...options], env);
  return { code, text: lines.join("\n"), warnings: warnings.join("\n") };
}

test("if the stack's state explains each instance, settle reads no other stack", async (world) => {
  const [web, db] = [taggedInstance(world, "i-1", "web"), taggedInstance(world, "i-2", "db")];
  taggedInstance(world, "i-old", "web");
  const held = [
    { ...web, known: ["i-old"] },
    { ...db, taint: true },
  ];
  const { code, text } = await settle(world, held);
  expect(pulumiCommands(world)).toHaveLength(5);
  expect(text).toContain("i-2");
  expect(text).toMatch(/^ .*COMPUTE_DELETE_POLICY=retain COMPUTE_LEFTOVERS=warn pulumi up`/m);
  expect(text).not.toMatch(/i-1|i-old/);
  expect(code).toBe(0);
});

for (const [what, resources, exitCode, way] of [
  ["has let go", [], 0, "pulumi import"],
  ["has beside it", [{}], 0, settleCommand("--yes", "--forget")],
  ["will replace, as it is tainted", [{ taint: true }], 1, "COMPUTE_DELETE_POLICY=retain"],
] as const)
  test(`a server in no state of a resource that the state ${what} is named, with exit code ${exitCode}`, async (world) => {
    taggedInstance(world, "i-1", "web");
    const held = resources.map((more) => ({ ...taggedInstance(world, "i-0", "web"), ...more }));
    const { code, text } = await settle(world, held);
    expect(text).toMatch(/^ {2}found {2}instance i-1, .* in no state/m);
    expect(text).toContain("an `up` that creates web stops for it");
    expect(text).toContain(`→ \`${way}`);
    expect(code).toBe(exitCode);
  });

for (const typedFor of ["sk_live_of_another", urnOf("of_another")])
  test(`${typedFor}, which no resource has, is said to be wrong, and not repeated, since it may be the token (G8)`, async (world) => {
    const options = ["--forget", typedFor];
    const { code, text, warnings } = await settle(world, [], { options });
    expect(warnings).toContain("No resource here has a name or URN that was given");
    expect(text + warnings).not.toContain("of_another");
    expect(code).toBe(0);
  });

for (const plan of ["let it run", "forget the create"])
  test(`what a person gives up (${plan}) stays open while the state would lose another provider's pending create`, async (world) => {
    const held = [taggedInstance(world, "i-0", "web")];
    taggedInstance(world, "i-1", "web");
    const inDoubt = { urn: urnOf("web"), baseUrl: world.service.url, ...origin, id: "i-1" };
    if (plan === "forget the create") await leaveInDoubt(world.ledger, "web", inDoubt);
    const pending = [{ name: "thing", type: "other:index:Thing", inputs: {} }];
    const options = ["--forget", urnOf("web")];
    const { code, text } = await settle(world, held, { pending, options });
    expect(text).toContain(`plan   ${plan}`);
    expect(text).toContain("--drop-others allows that");
    expect(text).toContain("Nothing was changed.");
    expect(code).toBe(1);
  });

for (const [what, meanwhile, exitCode, end, why] of [
  ["nobody has touched", ":", 0, "Done: 1 create forgotten.\nNothing is in doubt any more.", /^$/],
  [
    "a run has changed meanwhile",
    `sed -i 's/"before":\\[\\]/"before":["i-9"]/'`,
    3,
    "Done: nothing.\nNot everything could be decided or written.",
    /^The file of the create of \S+::web stays: /,
  ],
] as const)
  test(`settle --forget of a create whose file ${what} ends with exit code ${exitCode}`, async (world) => {
    await leaveInDoubt(world.ledger, "web", { urn: urnOf("web"), baseUrl: world.service.url });
    const [file = ""] = readdirSync(world.ledger).filter((name) => name.endsWith(".json"));
    const { code, text, warnings } = await settle(world, [], {
      options: ["--forget", urnOf("web")],
      meanwhile: `${meanwhile} '${join(world.ledger, file)}'`,
    });
    expect(text).toContain(end);
    expect(warnings).toMatch(why);
    expect(code).toBe(exitCode);
    expect(readdirSync(world.ledger).includes(file)).toBe(exitCode !== 0);
  });
