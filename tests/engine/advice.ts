/**
 * The list of the plugin's advice: each message that says what to type, or to run again, with the test that follows each
 * way out to its end: until the state and the service agree, nothing is doubled or unnamed, and the exit code is 0.
 * tools/docs/advice.test.ts checks that the list is complete and that the tests exist.
 */

/** The test that follows a way out, as `FILE: BEGINNING OF ITS NAME`, or the reason why nothing can be typed. */
type Way = { test: string } | { noRun: string };

interface Advice {
  file: string;
  /** A distinctive part of the message, as it is in the source. */
  text: string;
  ways: Readonly<Record<string, Way>>;
}

const test = (file: string, name: string): Way => ({ test: `${file}.test.ts: ${name}` });
const engine = (file: string, name: string) => test(`tests/engine/${file}`, name);
const core = (file: string, name: string) => engine(`core/${file}`, name);
const commands = (name: string) => engine("adviceCommands", name);
const typedCommands = (name: string) => engine("typedCommands", name);
const secondServer = (name: string) => engine("secondServer", name);
const promises = (name: string) => engine("promises", name);

const afterKill = typedCommands(
  "after engine and plugin were killed during a POST and the program",
);
const refusedDestroy = typedCommands("after a refused destroy, the printed command with %s works");
const refusedReplacement = engine("adviceDelete", "after a refused replacement, it works with");
const portLater = engine("waitForPort", "a port that does not answer in time keeps the instance");
const portNever = engine("waitForPort", "a port that can't answer is left out of the program");
const waits = core("waiting", "after a time-out the id is in the state");

/** A message that reports something and advises nothing. */
const reports = { noRun: "it reports what a command does, and advises nothing" };
const usage = { noRun: "the help repeats what was typed" };
const part = { noRun: "the part of a message whose whole text has an entry of its own" };

export const advice: readonly Advice[] = [
  // ── Several runs with one process of the plugin ──
  {
    file: "provider/rpc/engines.ts",
    text: "already serves another run of Pulumi",
    ways: {
      "once that run has ended": test(
        "provider/rpc/server",
        "the next engine begins a run of its own",
      ),
      "without PULUMI_DEBUG_PROVIDERS": {
        noRun: "the engine then starts a process of its own, as in all other tests",
      },
    },
  },
  // ── Requests that fail ──
  {
    file: "provider/advice.ts",
    text: "Remove the instance at the service (its portal), then run this again.",
    ways: {
      "remove it": engine("adviceDelete", "if the id can't be part of the destroy call's path"),
    },
  },
  {
    file: "provider/advice.ts",
    text: "Check compute:baseUrl, the network and the proxy settings, and run again.",
    ways: { "correct the address": engine("adviceSettings", "with the address %s, up and doctor") },
  },
  {
    file: "provider/advice.ts",
    text: "Run again; a longer compute:requestTimeoutSeconds may help.",
    ways: {
      "run again": engine(
        "adviceSettings",
        "if a listing takes longer than the time-out of a request",
      ),
    },
  },
  { file: "provider/advice.ts", text: "pulumi config set compute:${setting}", ways: { part } },
  {
    file: "provider/advice.ts",
    text: "set the argument \\`${setting}\\` of the provider",
    ways: {
      "the argument": engine("adviceDelete", "after a refused replacement by a provider of the"),
    },
  },
  { file: "provider/advice.ts", text: "`\\`${command}\\``", ways: { part } },
  { file: "provider/advice.ts", text: "with stack ${stackNameOf(urn)} selected", ways: { part } },
  {
    file: "provider/advice.ts",
    text: "The token is invalid, expired or revoked",
    ways: {
      "pulumi config set": engine("adviceSettings", "after a token was revoked, up works"),
      COMPUTE_API_TOKEN: engine("adviceSettings", "after a token was revoked, up works"),
    },
  },
  {
    file: "provider/advice.ts",
    text: '"Run again."',
    ways: { "run again": engine("adviceSettings", "after %s, up") },
  },
  {
    file: "provider/advice.ts",
    text: "The fault is at the service: run again later",
    ways: { "run again": engine("adviceSettings", "after %s, up") },
  },
  {
    file: "provider/advice.ts",
    text: "Correct what the message names, and run again.",
    ways: { "run again": engine("adviceSettings", "after %s, up") },
  },
  {
    file: "provider/advice.ts",
    text: "This run used the settings that the last",
    ways: {
      "pulumi refresh --run-program": core("configuration", "if the state still has a wrong"),
      "the same after an import": engine("adviceSettings", "if an import fails with a wrong"),
      "correct the variable": engine(
        "adviceSettings",
        "if a refresh fails with a wrong address from the environment",
      ),
    },
  },

  // ── The command line ──
  { file: "cli/run.ts", text: "ownCommand()", ways: { usage } },
  { file: "cli/emulator.ts", text: "ownCommand(", ways: { usage } },
  {
    file: "cli/run.ts",
    text: "`See ${ownCommand(",
    ways: {
      "--help": typedCommands("with nothing but pulumi on PATH, `pulumi plugin run` passes"),
    },
  },
  {
    file: "provider/main.ts",
    text: "Ctrl-C ends it. To check the settings",
    ways: {
      doctor: engine("doctor", "the plugin prints a greeting and the port when"),
      "--help": engine("doctor", "the plugin prints a greeting and the port when"),
    },
  },

  // ── audit ──
  {
    file: "cli/report.ts",
    text: "Take them over (",
    ways: {
      "audit --plan": commands("audit finds an instance made by hand"),
      "remove it": test("tests/lifecycle/audit", "after audit printed a discard"),
    },
  },
  {
    file: "cli/report.ts",
    text: "`pulumi up --stack <stack>` creates new ones.",
    ways: { "pulumi up": commands("audit finds an instance made by hand") },
  },
  {
    file: "cli/report.ts",
    text: "--stack <stack>\\` drops",
    ways: { "pulumi refresh": commands("audit finds an instance made by hand") },
  },
  {
    file: "cli/audit.ts",
    text: "a refresh of its stack keeps it",
    ways: {
      "pulumi state delete": commands("after a new token, audit finds an instance gone that a"),
    },
  },
  {
    file: "cli/report.ts",
    text: "Keep one resource of each instance.",
    ways: {
      "pulumi state delete": commands("audit finds an instance that three resources manage"),
    },
  },
  {
    file: "cli/report.ts",
    text: "creates each of them once more, unless compute:leftovers",
    ways: {
      "pulumi import": commands("after a run was killed on another machine, what audit prints"),
    },
  },
  {
    file: "cli/report.ts",
    text: "--clear-pending-creates --stack <stack>` removes",
    ways: {
      "no instance": commands("after a run was killed on another machine, what audit prints"),
      "an instance": commands("after a run was killed before its create arrived, the %s"),
    },
  },
  {
    file: "cli/report.ts",
    text: "again when no run is under way.",
    ways: { "run again": test("tests/lifecycle/audit", "an unreadable stack means") },
  },
  {
    file: "cli/report.ts",
    text: "with their base URL and token. `--stack NAME`",
    ways: {
      "--stack": commands("doctor asks for the address and the token of each stack"),
      "base URL and token": commands("doctor asks for the address and the token of each stack"),
    },
  },
  {
    file: "cli/compare.ts",
    text: "from the state of ${held.stack}, and lets it run; ${withDependents}), then",
    ways: {
      "pulumi state delete, pulumi import": commands(
        "after a kill during the wait and the import of a wrong instance",
      ),
    },
  },
  {
    file: "cli/compare.ts",
    text: "${drop}\\`${inStack(importCommand(resource, id), resource.stack)}",
    ways: {
      "pulumi import": commands("after a run was killed on another machine, what audit prints"),
    },
  },
  {
    file: "cli/compare.ts",
    text: "If both addresses are of one service, that stack manages it",
    ways: {
      "pulumi import": commands("audit does not decide whether an instance whose id a stack has"),
    },
  },
  {
    file: "cli/compare.ts",
    text: "takes it over, or says what to do",
    ways: {
      "pulumi up": commands("after a run was killed during a create, the `pulumi up` that audit"),
      discard: test("tests/lifecycle/audit", "after audit printed a discard"),
    },
  },

  // ── discard ──
  { file: "cli/discard.ts", text: 'ownCommand("discard", only', ways: { part } },
  {
    file: "cli/discard.ts",
    text: "which resumes those of its stack or says what to do",
    ways: {
      "pulumi up": commands("after a run was killed before its create arrived, the %s"),
      "discard <urn>": commands("after a run was killed before its create arrived, the %s"),
      discard: test("tests/lifecycle/doctor", "after doctor named a pending create"),
    },
  },
  {
    file: "cli/discard.ts",
    text: "With \\`pulumi state delete\\`: ",
    ways: {
      "--target-dependents": engine(
        "adviceDelete",
        "with another address, the printed state delete",
      ),
    },
  },
  {
    file: "cli/discard.ts",
    text: "If it still runs and is in no state",
    ways: { audit: test("tests/lifecycle/audit", "after audit printed a discard") },
  },
  {
    file: "cli/discard.ts",
    text: "take it over by hand",
    ways: {
      "pulumi import": commands("after a kill during the wait and the import of a wrong instance"),
    },
  },
  {
    file: "cli/discard.ts",
    text: "before that import, if the state has another instance",
    ways: {
      "pulumi state delete, pulumi import": commands(
        "after a kill during the wait and the import of a wrong instance",
      ),
    },
  },
  {
    file: "cli/discard.ts",
    text: "forget it, once you know that it left no running instance",
    ways: {
      discard: test("cli/discard", "without an argument it lists the pending creates"),
    },
  },
  {
    file: "cli/discard.ts",
    text: "There is no pending create with this key or URN.",
    ways: { discard: test("cli/discard", "after a wrong key, the printed discard") },
  },
  {
    file: "cli/discard.ts",
    text: "Several state backends have a pending create for",
    ways: {
      PULUMI_BACKEND_URL: test("cli/discard", "with the same URN in two backends, discard forgets"),
    },
  },
  {
    file: "cli/discard.ts",
    text: "Not forgotten: a run is busy with",
    ways: { "discard again": test("cli/discard", "a create that a run is busy with") },
  },
  {
    file: "cli/discard.ts",
    text: "could not be changed. Run",
    ways: { "discard again": test("cli/discard", "if a record could not be changed") },
  },

  // ── A pending create ──
  {
    file: "provider/instance/messages.ts",
    text: "may have left its instance. ",
    ways: { "pulumi up": commands("after a run was killed during a create, the `pulumi up`") },
  },

  // ── doctor ──
  {
    file: "cli/doctor.ts",
    text: "Correct it, and run",
    ways: { "doctor again": commands("doctor names a proxy variable that is no address") },
  },
  { file: "cli/doctor.ts", text: "drops none: ${whyIncomplete", ways: { reports } },
  { file: "cli/doctor.ts", text: "reads this state, too", ways: { reports } },
  {
    file: "cli/doctor.ts",
    text: "makes further instances with these settings",
    ways: {
      "other settings": test("tests/lifecycle/doctor", "doctor warns of the stack's instances"),
    },
  },
  {
    file: "cli/doctor.ts",
    text: "with another state backend, which",
    ways: { discard: test("tests/lifecycle/doctor", "pending creates, and records") },
  },
  { file: "cli/doctor.ts", text: "Nothing found prevents", ways: { reports } },

  // ── audit --plan ──
  { file: "cli/plan.ts", text: "for `pulumi import --file`", ways: { reports } },
  {
    file: "cli/plan.ts",
    text: "importPlanCommand(file, stack)",
    ways: { "pulumi import --file": engine("importPlan", "a hundred servers are imported") },
  },
  {
    file: "cli/plan.ts",
    text: "works for each of these stacks",
    ways: {
      "audit again": test(
        "tests/lifecycle/importPlan",
        "if a stack can't be read, or there is no pulumi",
      ),
    },
  },

  // ── The settings of the plugin's commands ──
  { file: "cli/pulumi.ts", text: '["pulumi", ...words]', ways: { reports } },
  {
    file: "cli/pulumi.ts",
    text: "lists the stacks of the project",
    ways: { "pulumi stack ls": commands("without a login, and with a wrong folder or stack") },
  },
  {
    file: "cli/pulumi.ts",
    text: "or set PULUMI_BACKEND_URL.",
    ways: {
      "pulumi login": commands("without a login, and with a wrong folder or stack"),
      PULUMI_BACKEND_URL: commands("without a login, and with a wrong folder or stack"),
    },
  },
  {
    file: "cli/settings.ts",
    text: "For a stack: ${inStack(configCommands[name]",
    ways: {
      "pulumi config set": commands("doctor asks for the address and the token of each stack"),
    },
  },
  {
    file: "cli/settings.ts",
    text: "asks for the token and encrypts it",
    ways: {
      "pulumi config set --secret": engine(
        "adviceSettings",
        "doctor warns of a token in clear text",
      ),
    },
  },
  {
    file: "cli/service.ts",
    text: "Run the command again later. If",
    ways: {
      "run again": test("tests/lifecycle/audit", "if the service answers every request with 429"),
    },
  },

  // ── Settings ──
  {
    file: "provider/config/configuration.ts",
    text: "Correct each setting in the place where it is set",
    ways: {
      "run again": engine("adviceSettings", "after a wrong token is corrected where it is set"),
    },
  },
  {
    file: "provider/config/configuration.ts",
    text: "${configCommands.baseUrl} https",
    ways: { part },
  },
  { file: "provider/config/configuration.ts", text: "configCommands.apiToken", ways: { part } },
  {
    file: "provider/config/configuration.ts",
    text: "run \\`${command}\\`, or set",
    ways: {
      "pulumi config set": engine("adviceSettings", "without an address and a token"),
      "the environment": engine("adviceSettings", "without an address and a token"),
    },
  },
  {
    file: "provider/config/configuration.ts",
    text: "set the argument",
    ways: { "the argument": engine("adviceSettings", "if an explicit provider lacks the token") },
  },
  {
    file: "provider/config/settings.ts",
    text: "What a create does if the service lists instances",
    ways: { reports },
  },
  {
    file: "provider/config/settings.ts",
    text: "What the state holds of the user data",
    ways: { reports },
  },
  {
    file: "provider/session/connection.ts",
    text: "Run again to use it",
    ways: {
      "run again": engine("adviceSettings", "a run that may not use the new token in the file"),
    },
  },

  // ── Import ──
  {
    file: "provider/instance/check.ts",
    text: "because an import can't read it from the service",
    ways: { "fill it in": core("import", "after an import, an up with the code that") },
  },

  // ── Delete ──
  {
    file: "provider/advice.ts",
    text: "which also records the settings (if the program has no",
    ways: {
      "pulumi refresh --run-program": refusedDestroy,
      "put one back": typedCommands("after the last instance was taken out of the program"),
    },
  },
  {
    file: "provider/instance/delete.ts",
    text: "in the settings that the last `pulumi up` recorded",
    ways: { reports },
  },
  {
    file: "provider/instance/delete.ts",
    text: "the delete succeeds once the listings prove that the instance is gone",
    ways: { "remove it": core("delete", "destroy of a live instance fails") },
  },
  {
    file: "provider/instance/delete.ts",
    text: "let it run, and drop it from the state",
    ways: { "pulumi state delete": refusedDestroy },
  },
  {
    file: "provider/instance/delete.ts",
    text: "the resource option retainOnDelete, once a",
    ways: {
      "compute:deletePolicy retain": refusedDestroy,
      retainOnDelete: engine("adviceDelete", "after a refused destroy, retainOnDelete"),
    },
  },
  {
    file: "provider/instance/delete.ts",
    text: 'howToSet("destroyPath", "/v2/instances/{id}"',
    ways: { "after a destroy": refusedDestroy, "after a replacement": refusedReplacement },
  },
  {
    file: "provider/instance/delete.ts",
    text: 'howToSet("deletePolicy", "destroy"',
    ways: { "after a destroy": refusedDestroy, "after a replacement": refusedReplacement },
  },
  {
    file: "provider/instance/delete.ts",
    text: "but it can't be proven that the instance is gone",
    ways: {
      "pulumi state delete": engine("adviceDelete", "if a DELETE was sent and no listing proves"),
    },
  },
  {
    file: "provider/instance/delete.ts",
    text: '"Run again"',
    ways: { "run again": engine("adviceDelete", "after a DELETE that ended with %s") },
  },
  {
    file: "provider/instance/delete.ts",
    text: "while the destroy call was under way",
    ways: { "run again": engine("adviceDelete", "after a DELETE that ended with %s") },
  },

  // ── Diff ──
  {
    file: "provider/instance/diff.ts",
    text: "The next run then creates anew here what was dropped",
    ways: {
      "pulumi state delete --target-dependents": engine(
        "adviceDelete",
        "with another address, the printed state delete",
      ),
    },
  },
  {
    file: "provider/instance/diff.ts",
    text: "the new instance is created once the old one is gone",
    ways: {
      "remove it": refusedReplacement,
      "remove each": core("delete", "if a server uses another one's output, the preview refuses"),
    },
  },
  {
    file: "provider/instance/diff.ts",
    text: "have the new instance created beside it",
    ways: { "compute:deletePolicy retain": refusedReplacement },
  },
  {
    file: "provider/evidence/why.ts",
    text: "this listing may be another tenant's",
    ways: {
      "the tenant's token": engine(
        "adviceDelete",
        "with a token of another tenant, a destroy refuses",
      ),
      "pulumi state delete": engine(
        "adviceDelete",
        "after a new token and a removal at the service",
      ),
    },
  },
  {
    file: "provider/instance/existence.ts",
    text: "run again with the configuration that the instance was created with",
    ways: { "run again": engine("adviceDelete", "with another address, up, refresh, destroy") },
  },

  // ── Create ──
  {
    file: "provider/instance/messages.ts",
    text: "another run, which is still under way, creates",
    ways: {
      "run again": engine(
        "adviceCreate",
        "after `pulumi cancel`, a second run waits for the first one in vain",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "withStack(importCommand({ urn: of.urn, provider }, id), own)",
    ways: {
      "contested: pulumi import": secondServer("after `pulumi cancel` and a second run"),
      "replied: pulumi import": promises("after a plugin was killed and an import only previewed"),
      "of a stack that was renamed: pulumi import": secondServer(
        "a run is killed after the 202, and the stack is renamed",
      ),
      "unregistered: pulumi import": secondServer(
        "a run is killed after the 202, and the resource is renamed",
      ),
      "pending: pulumi import": engine(
        "adviceCreate",
        "after an unclear create with several instances of its name",
      ),
      "left over: pulumi import": typedCommands(
        "after a kill during a create and the loss of the ledger",
      ),
      "not found: pulumi import": typedCommands(
        "the import that a pending create of an explicit provider",
      ),
      "turned up: pulumi import": engine(
        "adviceCreate",
        "after an unclear create with a name that the program gave",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "so either it was renamed to this one, or",
    ways: {
      "`pulumi state move`": {
        noRun: "it says how two stacks get one provider resource; each way out has its own entry",
      },
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: '"Then run this again"',
    ways: {
      "pulumi up there, run again": test(
        "provider/instance/resume",
        "with leftovers fail, what that stack's run delivered stops the create",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "if that stack exists: ${runThere(record)}",
    ways: { "pulumi up there, run again": secondServer("after `state move`, two stacks have one") },
  },
  {
    file: "provider/instance/messages.ts",
    text: "forget that create, once you know that it left no running instance",
    ways: {
      "unregistered: discard": engine(
        "adviceCreate",
        "a run is killed, the resource renamed and the instance removed: with leftovers fail",
      ),
      "pending: discard": typedCommands("if Pulumi has installed the plugin, the printed command"),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "undo the change in the program, and run \\`pulumi up\\`",
    ways: { "pulumi up": afterKill },
  },
  {
    file: "provider/instance/messages.ts",
    text: "to do without ${id}: remove it at the service, forget the create with",
    ways: { "remove it, discard": afterKill },
  },
  {
    file: "provider/instance/messages.ts",
    text: "forget the create with \\`${discardCommand(key)}\\` (\\`pulumi refresh\\` does that, too)",
    ways: {
      discard: engine("adviceCreate", "if an engine was given the instance and the state shows it"),
      "pulumi refresh": engine(
        "adviceCreate",
        "if an engine was given the instance and the state shows it",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "`\\`${stateDeleteCommand(of)}\\``",
    ways: {
      "pulumi state delete, pulumi import": engine(
        "adviceCreate",
        "after a replacement without a clear answer, the printed %s works",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "to keep that other instance, and what depends on it, in the state",
    ways: {
      "remove it, discard": engine(
        "adviceCreate",
        "after a replacement without a clear answer, the printed %s works",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "if you do not want ${id}: remove it at the service, and forget it with",
    ways: {
      "remove it, discard": secondServer("after two runs that saved their states over each other"),
      "remove it": secondServer("after two runs that saved their states over each other"),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "if you want the earlier instance instead:",
    ways: {
      "pulumi state delete, pulumi import": secondServer(
        "a run is killed after the 202, and the resource is renamed with an alias: with leftovers warn",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "`\\`${stateDeleteCommand(own.urn)}\\` (${withDependents})`",
    ways: { part },
  },
  {
    file: "provider/instance/messages.ts",
    text: "if you want the earlier instance instead: first configure",
    ways: {
      "its settings, pulumi state delete, pulumi up": test(
        "provider/instance/resume",
        "is named with the way to its instance, which begins with its settings and works",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "if you want the earlier instance, too: configure",
    ways: {
      "its settings, pulumi up, pulumi import": test(
        "provider/instance/resume",
        "after a rename of the resource and a change of the address, the import that is printed",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "${ifMoved}: ${dropNew}, ${takeOver}, ${removeNew}",
    ways: {
      "pulumi state delete, pulumi import": engine(
        "adviceCreate",
        "a run is killed and the service gets another address",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "${ifMoved}: take it over as this resource with",
    ways: {
      "pulumi import, discard": test(
        "provider/instance/resume",
        "with compute:leftovers fail, a pending create at another address names",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "run again with ${settingsOf(record)}",
    ways: {
      "another kind of token": test(
        "provider/instance/resume",
        "stops the create with compute:leftovers fail, and nothing is to be imported",
      ),
      "another account": test(
        "provider/instance/resume",
        "the record of a create with another account is not settled",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "if the program still has that resource: take its instance over with",
    ways: {
      "pulumi import, pulumi up --refresh": test(
        "provider/instance/resume",
        "with compute:leftovers fail, a pending create of a resource that depends on this one",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "if the earlier one is not running: forget it with",
    ways: {
      discard: engine(
        "adviceCreate",
        "a run is killed, the resource renamed and the instance removed: with leftovers warn",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "take it over as a separate resource:",
    ways: {
      "pulumi import": typedCommands("the import that an extra instance prints"),
      "remove it": engine(
        "adviceCreate",
        "a further instance that an unclear create may have made is removed",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "once a \\`pulumi up\\` has recorded ${its}",
    ways: {
      "its settings": test(
        "provider/instance/resume",
        "is named at the end of a run with the settings that its resource's next create needs",
      ),
      "pulumi import": engine(
        "adviceCreate",
        "after a kill during the create of a resource that the program then lacks",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "forget it, once you know that it left no running instance:",
    ways: {
      discard: engine(
        "adviceCreate",
        "after a kill during the create of a resource that the program then lacks",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "Other projects have ${elsewhere} more",
    ways: {
      discard: engine(
        "adviceCreate",
        "the command that names the pending creates of other projects",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: 'withStack(importAs("<name>", id, own.provider), own)',
    ways: {
      "pulumi import": engine(
        "adviceCreate",
        "after a warning about a leftover, what it advises works",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "To have a create fail in this case before anything is sent",
    ways: {
      "remove it": engine(
        "adviceCreate",
        "after a warning about a leftover, what it advises works",
      ),
      "compute:leftovers fail": engine(
        "adviceCreate",
        "after a warning about a leftover, what it advises works",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "`pulumi stack --show-ids` lists the instances of the stack",
    ways: {
      "pulumi stack": engine("adviceCreate", "if the leftover that stopped %s is in the stack"),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "if the stack has the instance, and this run replaces it",
    ways: {
      "compute:leftovers warn": engine(
        "adviceCreate",
        "if the leftover that stopped %s is in the stack",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "if the stack has it otherwise: `pulumi up --refresh`",
    ways: {
      "pulumi up --refresh": engine(
        "adviceCreate",
        "if the leftover that stopped %s is in the stack",
      ),
      "the same beside an alias": test(
        "provider/instance/leftovers",
        "with compute:leftovers fail, a new resource that %s",
      ),
      "remove it": engine(
        "adviceCreate",
        "after a leftover stopped the create, what the message advises works",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: 'howToSet("leftovers", "warn", spec.own.provider)',
    ways: { "compute:leftovers warn": core("replaceAgain", "--replace creates nothing with") },
  },
  {
    file: "provider/instance/messages.ts",
    text: 'let it run: ${howToSet("deletePolicy", "retain", provider)}',
    ways: {
      "remove it": engine(
        "adviceCreate",
        "after a replacement was refused because its delete would fail",
      ),
      "compute:deletePolicy retain": engine(
        "adviceCreate",
        "after a replacement was refused because its delete would fail",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: 'howToSet("leftovers", "warn", provider)',
    ways: { "compute:leftovers warn": engine("adviceCreate", "after a replacement was refused") },
  },
  {
    file: "provider/instance/messages.ts",
    text: "selected keeps it, takes it over, or says what to do",
    ways: { "pulumi up": engine("adviceCreate", "if another stack's create made the leftover") },
  },
  {
    file: "provider/instance/messages.ts",
    text: "if no state holds it any more",
    ways: {
      "pulumi import": engine(
        "adviceCreate",
        "after a create was refused because the instance that left the state still runs",
      ),
      discard: engine(
        "adviceCreate",
        "after a create was refused because the instance that left the state still runs",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "because each run creates an instance",
    ways: {
      "look for the name": engine(
        "adviceReady",
        "without a clear answer, the service's listing has",
      ),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "on this machine searches for it before it creates anything",
    ways: {
      "pulumi up": engine("adviceCreate", "after a create that no listing showed, the next up"),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "if this create made none of them: forget the create with",
    ways: {
      discard: engine("adviceCreate", "after an unclear create with a name that the program gave"),
    },
  },

  // ── The wait, and reads ──
  {
    file: "provider/instance/read.ts",
    text: "was not finished when last seen",
    ways: {
      "pulumi up": engine("adviceReady", "a refresh whose listing lacks an unfinished instance"),
    },
  },
  {
    file: "provider/instance/ready.ts",
    text: "is now missing from two complete listings",
    ways: {
      "pulumi up": engine(
        "adviceReady",
        "an instance that is removed at the service during the wait",
      ),
    },
  },
  {
    file: "provider/instance/read.ts",
    text: "has not answered yet. \\`pulumi up\\` waits for it",
    ways: { "pulumi up": portLater },
  },
  {
    file: "provider/instance/port.ts",
    text: "give the port more time",
    ways: { "pulumi up, customTimeouts": portLater, "leave it out": portNever },
  },
  {
    file: "provider/instance/ready.ts",
    text: "can't answer. Start it at the service, then run \\`pulumi up\\`",
    ways: { "start it": portNever, "leave it out": portNever },
  },
  {
    file: "provider/instance/ready.ts",
    text: "listings are cut off before they show it",
    ways: {
      "compute:cursorParameter, pulumi refresh": engine(
        "adviceReady",
        "if the listings are cut off before a new instance",
      ),
    },
  },
  {
    file: "provider/instance/ready.ts",
    text: "is still PROVISIONING. \\`pulumi up\\` waits until it is ready",
    ways: { "pulumi up": waits },
  },
  {
    file: "provider/instance/ready.ts",
    text: "does not run. Start it at the service, then run",
    ways: {
      "pulumi refresh": engine("adviceReady", "after the warning that an instance is OFFLINE"),
    },
  },
  {
    file: "provider/instance/ready.ts",
    text: "If it becomes ACTIVE or OFFLINE, the next",
    ways: {
      "pulumi up": engine("adviceReady", "an instance that ends its wait with an unknown status"),
      "remove it": engine("adviceReady", "an instance that ends its wait with an unknown status"),
    },
  },
  {
    file: "provider/instance/ready.ts",
    text: "later to see whether the status has changed",
    ways: {
      "pulumi refresh": engine(
        "adviceReady",
        "after the warning that a finished instance has an unknown status",
      ),
    },
  },
  {
    file: "provider/instance/ready.ts",
    text: "exists, and no state holds it. To take it over",
    ways: {
      "pulumi import": engine("adviceReady", "whose wait failed, the printed import takes the"),
    },
  },
  {
    file: "provider/instance/ready.ts",
    text: '"next `pulumi up`"',
    ways: { "pulumi up": waits },
  },
  {
    file: "provider/instance/update.ts",
    text: "no longer exists. Run",
    ways: {
      "pulumi refresh, pulumi up": engine(
        "adviceReady",
        "an imported instance that is gone when the program claims",
      ),
    },
  },
  {
    file: "provider/rpc/errors.ts",
    text: "was left out of the state of the instance",
    ways: {
      "pulumi up": engine("adviceReady", "an unfinished instance with a script of"),
    },
  },
  {
    file: "provider/rpc/service.ts",
    text: "reads the instance again",
    ways: {
      "pulumi up": {
        noRun:
          "only a defect of the provider prints it. The engine then keeps an unfinished instance, whose next `pulumi up` `waits` follows",
      },
    },
  },
  {
    file: "provider/rpc/providerInputs.ts",
    text: "pulumi plugin install resource",
    ways: {
      "pulumi plugin install": engine(
        "installing",
        "`pulumi plugin install --server` downloads the plugin",
      ),
    },
  },

  // ── A pause that the service asks for ──
  {
    file: "provider/provider.ts",
    text: "Nothing was changed. Run again after that time",
    ways: {
      "run again": engine("adviceReady", "a service that asks %s for a pause of an hour"),
    },
  },
  {
    file: "provider/instance/ready.ts",
    text: '"next `pulumi up` after that time"',
    ways: {
      "pulumi up": engine("adviceReady", "a service that asks %s for a pause of an hour"),
    },
  },
  {
    file: "provider/instance/delete.ts",
    text: '"Run again after that time"',
    ways: {
      "run again": engine("adviceDelete", "after a DELETE that ended with %s, the destroy"),
    },
  },
  {
    file: "provider/instance/delete.ts",
    text: "The instance stays in the state. Run again after that time",
    ways: {
      "run again": engine("adviceDelete", "a destroy whose DELETE is refused with a long pause"),
    },
  },
  {
    file: "cli/service.ts",
    text: "Run the command again after that time.",
    ways: {
      "run again": commands("if the service asks for a pause of an hour"),
    },
  },

  // ── Two resources with one instance ──
];
