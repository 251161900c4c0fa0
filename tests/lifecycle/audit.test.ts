/**
 * Tests `audit` against the emulator and a stand-in for the Pulumi CLI: what the command finds, and what it can't
 * decide.
 */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { typed } from "../../provider/cli/testing/typed";
import { tokenHash, type Origin } from "../../provider/origin";
import { Ledger } from "../../provider/ledger/ledger";
import { leaveOpen, newRecord } from "../../provider/testing/ledgerRecord";
import { testToken, withWorld, type World } from "./support/world";

const urnOf = (name: string) => `urn:pulumi:dev::p::compute:index:Instance::${name}`;

/** An instance in the state of a stack. `origin: null` leaves out where the instance lives. */
interface HeldInstance {
  name: string;
  id: string;
  external?: boolean;
  origin?: Partial<Origin> | null;
}

/**
 * Writes a stand-in for the Pulumi CLI that answers `pulumi stack ls` and `pulumi stack export` for these stacks.
 * Returns the folder for PATH.
 */
function fakePulumi(
  { home, service }: World,
  stacks: Record<string, { held?: HeldInstance[]; pending?: string[] } | "broken">,
): string {
  const origin = { baseUrl: service.url, tokenKind: "test" };
  const hash = tokenHash({ apiToken: testToken, baseUrl: service.url });
  const type = "compute:index:Instance";
  for (const [stack, state] of Object.entries(stacks)) {
    const deployment =
      state === "broken"
        ? { resources: [{ type, urn: "broken" }] }
        : {
            resources: (state.held ?? []).map(({ name, id, external, origin: other }) => ({
              ...{ type, urn: urnOf(name), id, external },
              outputs: other === null ? {} : { __origin: { ...origin, tokenHash: hash, ...other } },
            })),
            pending_operations: (state.pending ?? []).map((name) => ({
              ...{ type: "creating", resource: { type, urn: urnOf(name), inputs: { name } } },
            })),
          };
    writeFileSync(join(home, `${stack}.json`), JSON.stringify({ deployment }));
  }
  const names = JSON.stringify(Object.keys(stacks).map((name) => ({ name })));
  const script = [
    ...["#!/bin/sh", `if [ "$2" = ls ]; then echo '${names}'; exit; fi`],
    ...['[ "$2" = export ] || exit 1', `cat '${home}'/"$4".json`],
  ];
  const file = join(home, "pulumi");
  writeFileSync(file, `${script.join("\n")}\n`);
  chmodSync(file, 0o700);
  return home;
}

async function audit(world: World, path: string, ...args: string[]) {
  const { code, lines, warnings } = await typed(["audit", ...args], {
    ...{ PATH: `${path}:/usr/bin:/bin`, PULUMI_HOME: world.home },
    ...{ COMPUTE_BASE_URL: world.service.url, COMPUTE_API_TOKEN: testToken },
  });
  for (const call of Object.keys(world.service.counts())) expect(call).toMatch(/^GET /);
  return { code, text: lines.join("\n"), warnings };
}

/** Runs `audit --json`, and returns the exit code with the parsed output. */
async function auditData(world: World, path: string) {
  const { code, text } = await audit(world, path, "--json", "--poll-interval-seconds", "0.2");
  return { code, ...(JSON.parse(text) as Record<string, unknown>) };
}

test("if every instance is managed and exists, audit ends with 0 after one listing", async () => {
  await withWorld({}, async (world) => {
    world.service.control.insert({ id: "i-1", name: "web" });
    const path = fakePulumi(world, { a: { held: [{ name: "web", id: "i-1" }] }, b: {} });
    const { code, text } = await audit(world, path);
    expect(text).toMatch(/^stacks +2 read, 1 with instances$/m);
    expect(text).toMatch(/^managed +1 instance$/m);
    expect(code).toBe(0);
    expect(world.listings).toBe(1);
  });
});

test("finds instances in no stack, gone, in several stacks and elsewhere, pending creates, and undecided instances", async () => {
  await withWorld({}, async (world) => {
    const { control } = world.service;
    for (const id of ["i-1", "i-hand", "i-read", "i-left", "i-lost"])
      control.insert({ id, name: id });
    control.insert({ id: "i-now", name: "now", status: "PROVISIONING" });
    const made = { baseUrl: world.service.url, tokenKind: "test", stage: "accepted" } as const;
    await leaveOpen(world.ledger, "left", { ...made, id: "i-left" });
    const path = fakePulumi(world, {
      a: {
        held: [
          { name: "web", id: "i-1" },
          { name: "db", id: "i-gone" },
          { name: "reader", id: "i-read", external: true },
          { name: "paid", id: "i-paid", origin: { tokenKind: "live" } },
          { name: "old", id: "i-old", origin: null },
          { name: "user", id: "i-user", origin: { tokenHash: "another" } },
        ],
        pending: ["i-lost"],
      },
      b: { held: [{ name: "again", id: "i-1" }] },
    });
    const found = await auditData(world, path);
    const place = { baseUrl: world.service.url, tokenKind: "test" };
    expect(found).toEqual({
      ...{ code: 1, result: "found" },
      services: [{ ...place, account: expect.any(String), listed: 6, complete: true }],
      stacks: { read: 2, withInstances: 2 },
      ...{ managed: [expect.objectContaining({ id: "i-1" })] },
      inSeveral: [
        expect.objectContaining({
          resources: [
            { stack: "a", urn: urnOf("web") },
            { stack: "b", urn: urnOf("again") },
          ],
        }),
      ],
      inNoStack: expect.any(Array),
      gone: [{ id: "i-gone", stack: "a", urn: urnOf("db") }],
      undecided: [
        { what: 'instance i-now "now"', why: expect.stringMatching(/^in no stack, but PROV/) },
        { what: "instance i-user of a", why: expect.stringMatching(/another tenant's/) },
      ],
      openCreates: [
        expect.objectContaining({ id: "i-left", at: expect.any(String) }),
        { stack: "a", urn: urnOf("i-lost"), name: "i-lost" },
      ],
      notComparable: [
        { id: "i-paid", stack: "a", urn: urnOf("paid"), why: expect.stringMatching(/live token/) },
        { id: "i-old", stack: "a", urn: urnOf("old"), why: expect.stringMatching(/does not say/) },
      ],
    });
    const orphans = found["inNoStack" as keyof typeof found] as unknown as Record<string, string>[];
    expect(Object.fromEntries(orphans.map(({ id, note = "" }) => [id, note]))).toEqual({
      "i-hand": "",
      "i-read": "a reads it, but does not manage it",
      "i-left": expect.stringMatching(
        /^an earlier run created it for urn:.*; the next `pulumi up` takes/,
      ),
      "i-lost": expect.stringMatching(
        /^it has the name of a pending create; if that create made it, `pulumi import /,
      ),
    });
    const { code, text } = await audit(world, path, "--poll-interval-seconds", "0.2");
    expect(text).toMatch(/^In no stack \(4\):\n( {2}i-\S+ .*\n){4} {2}→ Take them/m);
    expect(text).toMatch(
      /\nManaged by more than one resource.*\(1\):\n {2}i-1 .* a: urn:\S+ {2}b: urn:/,
    );
    expect(code).toBe(1);
  });
});

test("an unreadable stack means that no instance counts as in no stack, an incomplete listing that none counts as gone", async () => {
  await withWorld({}, async (world) => {
    world.service.control.insert({ id: "i-1", name: "web" });
    const db = { held: [{ name: "db", id: "i-gone" }] };
    world.service.control.fault({ kind: "hasMoreForever", times: "always" });
    const found = await auditData(world, fakePulumi(world, { a: db, b: "broken" }));
    expect(found).toMatchObject({ code: 3, result: "undecided", inNoStack: [], gone: [] });
    const undecided = found["undecided" as keyof typeof found] as unknown as { what: string }[];
    expect(undecided.map(({ what }) => what)).toEqual([
      ...["stack b", world.service.url, 'instance i-1 "web"', "instance i-gone of a"],
    ]);
  });
});

test("if nothing can be compared, audit ends with 3 and says why", async () => {
  await withWorld({}, async (world) => {
    const none = await audit(world, "/nonexistent");
    expect(none.code).toBe(3);
    expect(none.warnings[0]).toMatch(/^there is no pulumi on PATH/);
    world.service.control.declareToken(testToken, { state: "revoked" });
    const path = fakePulumi(world, {});
    const revoked = await auditData(world, path);
    expect(revoked).toEqual({
      ...{ code: 3, result: "undecided" },
      undecided: [{ what: "a service", why: expect.stringMatching(/HTTP 401/) }],
    });
  });
});

test("a create of a run that is under way on this machine is not reported as pending", async () => {
  await withWorld({}, async (world) => {
    const path = fakePulumi(world, { a: { pending: ["web"] } });
    const running = new Ledger(world.ledger, "running", () => undefined, {
      date: () => new Date(),
    });
    await running.begin(newRecord("web", { urn: urnOf("web") }));
    expect(await auditData(world, path)).toMatchObject({ code: 0, openCreates: [] });
    await running.close();
    expect(await auditData(world, path)).toMatchObject({
      code: 1,
      openCreates: [{ urn: urnOf("web"), stack: "a" }],
    });
  });
});
