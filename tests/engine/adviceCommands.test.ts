/**
 * Follows what the plugin's commands advise (`audit`, `doctor`) to its end (G9): each command is
 * typed as it is printed, until the state and the service agree, and `audit` ends with exit code 0.
 */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { testAuthority, testServer } from "../../provider/api/testing/certificates";
import { startConnectProxy } from "../../provider/api/testing/connectProxy";
import { printedCommands } from "../support/printed";
import { TlsFront } from "../support/tlsFront";
import { Fixture } from "./support/fixture";
import { emptyProgram, instances, oneInstance } from "./support/programs";
import { settle, stateFile } from "./support/settling";
import { ageCreates, plugin, tokens } from "./support/stack";
import { expectAgreement, isWell, printed, typePrinted, typeToken, urnOf } from "./support/typing";

const audit = `'${plugin}' audit`;
const doctor = `'${plugin}' doctor`;
const dev = "organization/proj/dev";

/** Expects that `up` changes nothing, that the stack has all instances, and that `audit` finds no problem. */
async function expectAllWell(fixture: Fixture, ids?: readonly string[]): Promise<void> {
  await expectAgreement(fixture, ids);
  const text = await fixture.stack.type(audit);
  expect(text).toMatch(/^Every listed instance is managed/m);
  expect(text).not.toContain("→");
}

/** Returns the section of an audit's report that begins with this title. */
function sectionOf(report: string, title: string): string {
  const found = report.split("\n\n").find((section) => section.startsWith(`${title} (`));
  if (found === undefined) throw new Error(`no section "${title}" in: ${report}`);
  return found;
}

/** Selects a new stack, so that a command that does not name its stack fails, or changes the wrong one. */
const selectAnother = ({ stack }: Fixture) =>
  stack.succeed("stack", "init", "another", "--copy-config-from", "dev");

// ── What audit finds ─────────────────────────────────────────────────────────────────────────────

test("audit finds an instance made by hand and one that is gone: its commands, and the one that `audit --plan` prints, bring everything into the stack", async () => {
  await using fixture = await Fixture.create({ program: emptyProgram });
  const { stack, service, control } = fixture;
  const properties = { baseUrl: service.url, settlingSeconds: 1, pollIntervalSeconds: 0.2 };
  const resources = { own: { type: "pulumi:providers:compute", properties } };
  const two = { web: {}, db: { options: { provider: "${own}" } } };
  stack.program(instances(two, { resources }));
  await stack.up();
  const gone = (await stack.instances()).find(({ urn }) => urn === urnOf("web"))?.id ?? "";
  control.remove(gone);
  ageCreates(stack);
  control.insert({ id: "i-hand", name: "by-hand" });
  await selectAnother(fixture);
  const report = await stack.typeFailing(`${audit} --stack dev`);

  const lost = sectionOf(report, "In a stack but gone");
  expect(lost).toContain(`${gone}  ${dev}  ${urnOf("web")}`);
  await typePrinted(fixture, lost, "pulumi refresh");
  await typePrinted(fixture, lost, "pulumi up");
  expect(fixture.posts()).toBe(3);

  const planned = await typePrinted(fixture, sectionOf(report, "In no stack"), "audit --plan");
  const [, next = ""] = /Next: (.*)$/m.exec(planned) ?? [];
  expect(await stack.type(next)).toContain("1 imported");
  const byHand = { inputs: { name: "by-hand" } };
  stack.program(instances({ ...two, "by-hand": byHand }, { resources }));

  await stack.succeed("stack", "select", "dev");
  await stack.up();
  await expectAllWell(fixture);
});

test("audit does not decide whether an instance whose id a stack has at another address is that one: the import of the page takes over one that is not", async () => {
  await using fixture = await Fixture.create();
  await fixture.stack.up();
  const [id = ""] = fixture.ids();
  await using elsewhere = await Fixture.create({
    program: emptyProgram,
    project: "other",
    env: { PULUMI_HOME: fixture.stack.home, PULUMI_BACKEND_URL: fixture.stack.backend },
  });
  elsewhere.control.insert({ id, name: "by-hand" });
  const open = sectionOf(await elsewhere.stack.typeFailing(audit), "Not decided");
  expect(open).toContain(`it lives at ${fixture.service.url}`);

  await elsewhere.stack.type(`pulumi import compute:index:Instance by-hand ${id}`);
  elsewhere.stack.program(instances({ "by-hand": { inputs: { name: "by-hand" } } }));
  await elsewhere.stack.up();

  await expectAgreement(elsewhere, [id]);
  expect(await elsewhere.stack.type(audit)).toMatch(/^managed +1 instance$/m);
});

test("audit finds an instance that three resources manage: its commands leave one of them, and the instance runs on", async () => {
  await using fixture = await Fixture.create();
  const { stack } = fixture;
  await stack.up();
  const [id = ""] = fixture.ids();
  const [made] = fixture.control.instances();
  await using other = await fixture.otherProject({ program: oneInstance({ name: made?.name }) });
  await other.type(`pulumi import compute:index:Instance web ${id}`);
  await stack.type(`pulumi import compute:index:Instance twin ${id}`);
  const found = sectionOf(await stack.typeFailing(audit), "Managed by more than one resource");
  const ways = printedCommands(found, "pulumi state delete");
  expect(ways).toHaveLength(3);

  other.program(emptyProgram);
  for (const way of ways.filter((way) => !way.includes(`${urnOf("web")} `))) await stack.type(way);

  await other.expectNothingToDo();
  await expectAllWell(fixture, [id]);
  expect(fixture.posts()).toBe(1);
});

test("doctor asks for the address and the token of each stack, its commands set them, and audit compares all of them as it says", async () => {
  await using fixture = await Fixture.create({ token: null, baseUrl: undefined });
  const { stack, service } = fixture;
  await stack.succeed("stack", "init", "paid", "--no-select", "--copy-config-from", "dev");
  const chosen = { "": tokens.test, " --stack paid": tokens.live };
  for (const [options, token] of Object.entries(chosen)) {
    const found = await stack.typeFailing(doctor + options);
    const commands = [...found.matchAll(/For a stack: (pulumi config set .*)$/gm)].map(
      ([, command = ""]) => command,
    );
    expect(commands).toHaveLength(2);
    await stack.type(`printf %s ${service.url} | ${commands[0]}`);
    await typeToken(fixture, commands[1] ?? "", token);
    expect(await stack.type(doctor + options)).toMatch(isWell);
  }
  await stack.up("--stack", "paid");
  await stack.up();

  const some = sectionOf(await stack.type(audit), "Not compared");
  expect(some).toMatch(/^ {2}organization\/proj\/paid: it was made with a live token/m);
  expect(some).toContain("`--stack NAME`, once for each stack of this folder's project, takes");
  const all = await stack.type(`${audit} --stack dev --stack paid`);
  expect(all).toMatch(/^managed +2 instances$/m);
  expect(all).not.toContain("→");

  // Outside of the project, the address and the token come from the environment.
  stack.setEnv("COMPUTE_BASE_URL", service.url);
  stack.setEnv("COMPUTE_API_TOKEN", tokens.live);
  const rest = sectionOf(await stack.type(`cd / && ${audit}`), "Not compared");
  expect(rest).toMatch(/^ {2}organization\/proj\/dev: /m);
  expect(rest).not.toContain("organization/proj/paid");
  await stack.expectNothingToDo();
  await stack.expectNothingToDo("--stack", "paid");
  expect(fixture.posts()).toBe(2);
});

// ── Creates in doubt ──────────────────────────────────────────────────────────────────────────────

test.each(["audit", "doctor"])(
  "after a run was killed during a create, the settle that %s prints puts it right",
  async (command) => {
    await using fixture = await Fixture.create({ token: tokens.live });
    const { stack } = fixture;
    await fixture.endUpInPost("both killed");
    await stack.succeed("cancel", "--yes");

    // `doctor` asks only the ledger, and `audit` the state, too.
    if (command === "audit") {
      rmSync(join(stack.home, "compute"), { recursive: true });
      const report = await stack.typeFailing(audit);
      expect(report).toContain("In no stack, but explained by a create in doubt");
      const inDoubt = sectionOf(report, "Creates in doubt");
      await stack.type(`${printed(inDoubt, "settle")} --yes`);
    } else await stack.type(`${printed(await stack.type(doctor), "settle")} --yes`);

    await expectAllWell(fixture);
    expect(fixture.posts()).toBe(1);
  },
);

// ── The settings of the commands ─────────────────────────────────────────────────────────────────

test("without a login, and with a wrong folder or stack or a broken project file, the commands say what helps: `pulumi login`, PULUMI_BACKEND_URL and `pulumi stack ls`", async () => {
  await using fixture = await Fixture.create();
  const { stack } = fixture;
  await stack.up();
  stack.setEnv("PULUMI_ACCESS_TOKEN", undefined);
  stack.setEnv("PULUMI_BACKEND_URL", undefined);
  for (const command of [audit, doctor, `${audit} --plan plan.json`]) {
    expect(await stack.typeFailing(command)).toMatch(
      /→ Log in with `pulumi login` \(and .* Pulumi Cloud\), or set PULUMI_BACKEND_URL\.$/m,
    );
  }
  stack.setEnv("PULUMI_BACKEND_URL", stack.backend);
  expect(await stack.type(audit)).toMatch(/^managed +1 instance$/m);
  stack.setEnv("PULUMI_BACKEND_URL", undefined);
  await stack.type(`pulumi login '${stack.backend}'`);

  // In the folder of the project, the command then finds the stack.
  const inWrongFolder = await stack.typeFailing(`cd / && ${doctor} --stack dev`);
  expect(inWrongFolder).toContain("Run this command in the folder of the Pulumi project.");
  const broken = `mkdir broken && cd broken && echo 'name: [' > Pulumi.yaml && ${doctor}`;
  expect(await stack.typeFailing(broken)).toMatch(
    /could not unmarshal '.*Pulumi\.yaml'.*\n +→ Correct that file, and run this again\.$/m,
  );
  const wrong = await stack.typeFailing(`${doctor} --stack produktion`);
  const stacks = await typePrinted(fixture, wrong, "pulumi stack ls");
  const [, name] = /^(\w+)\*/m.exec(stacks) ?? [];
  expect(await stack.type(`${doctor} --stack ${name}`)).toMatch(isWell);

  await expectAllWell(fixture);
  expect(fixture.posts()).toBe(1);
});

test("after a kill has cut a file of the file backend, `settle` names the file to remove", async () => {
  await using fixture = await Fixture.create();
  const { stack } = fixture;
  await stack.up();
  const attributes = `${stateFile(stack)}.attrs`;
  expect(existsSync(attributes)).toBe(true);
  writeFileSync(attributes, "");
  const { code, output } = await settle(stack, "--yes");
  expect(code).toBe(3);
  expect(output).toMatch(/failed to load checkpoint: EOF\n.*→ In a file backend, .* \.json\.attrs/);
  rmSync(attributes);
  expect(await settle(stack, "--yes")).toMatchObject({ code: 0 });
  await expectAllWell(fixture);
  expect(fixture.posts()).toBe(1);
});

test("doctor names a proxy variable that is no address, and finds no problem when it is run again after the correction", async () => {
  await using fixture = await Fixture.create();
  await using front = await TlsFront.start(fixture.service.port, testServer);
  await using proxy = await startConnectProxy(front.port);
  const { stack } = fixture;
  const authority = join(stack.folder, "authority.pem");
  writeFileSync(authority, testAuthority);
  stack.setEnv("NODE_EXTRA_CA_CERTS", authority);
  await stack.configure({ baseUrl: "https://compute.test/v2" });
  for (const [unusable, why] of [
    ["http://:x", "HTTPS_PROXY is not the address of a proxy"],
    ["socks5h://127.0.0.1:1080", "HTTPS_PROXY is a SOCKS proxy"],
  ] as const) {
    stack.setEnv("HTTPS_PROXY", unusable);
    const output = await stack.typeFailing(doctor);
    expect(output).toContain(why);
    expect(output).toMatch(/HTTPS_PROXY is [^]*→ .*Check .* the proxy settings, and run again\./);
  }
  expect(await stack.fail("up")).toContain("HTTPS_PROXY is a SOCKS proxy");

  stack.setEnv("HTTPS_PROXY", proxy.url);

  expect(await stack.type(doctor)).toMatch(isWell);
  await stack.up();
  await expectAllWell(fixture);
});
