/**
 * The list of the plugin's advice: each message that says what to type, or to run again, with the test that follows each
 * way out to its end: until the state and the service agree, nothing is doubled or unnamed, and the exit code is 0.
 * tools/docs/advice.test.ts checks that the list is complete and that the tests exist.
 */

/** The test that follows a way out, as `FILE: BEGINNING OF ITS NAME`, or the reason why nothing can be typed. */
type Way = { test: string } | { noRun: string } | "missing";

interface Advice {
  file: string;
  /** A distinctive part of the message, as it is in the source. */
  text: string;
  ways: Readonly<Record<string, Way>>;
}

const missing = "missing";
const test = (file: string, name: string): Way => ({ test: `${file}.test.ts: ${name}` });
const engine = (file: string, name: string) => test(`tests/engine/${file}`, name);
const core = (file: string, name: string) => engine(`core/${file}`, name);
const typedCommands = (name: string) => engine("typedCommands", name);
const secondServer = (name: string) => engine("secondServer", name);
const promises = (name: string) => engine("promises", name);

const afterKill = typedCommands(
  "after engine and plugin were killed during a POST and the program",
);
const refusedDestroy = typedCommands("after a refused destroy, the printed command with %s works");
const waits = core("waiting", "after a time-out the id is in the state");

/** A message that reports something and advises nothing. */
const reports = { noRun: "it reports what a command does, and advises nothing" };
const part = { noRun: "the part of a message whose whole text has an entry of its own" };

export const advice: readonly Advice[] = [
  // ── Requests that fail ──
  {
    file: "provider/advice.ts",
    text: "Remove the instance at the service (its portal), then run this again.",
    ways: { "remove it": missing },
  },
  {
    file: "provider/advice.ts",
    text: "Check compute:baseUrl, the network and the proxy settings, and run again.",
    ways: { "correct the address": missing },
  },
  {
    file: "provider/advice.ts",
    text: "Run again; a longer compute:requestTimeoutSeconds may help.",
    ways: { "run again": missing },
  },
  {
    file: "provider/advice.ts",
    text: "The token is invalid, expired or revoked",
    ways: { "pulumi config set": missing, COMPUTE_API_TOKEN: missing },
  },
  { file: "provider/advice.ts", text: '"Run again."', ways: { "run again": missing } },
  {
    file: "provider/advice.ts",
    text: "The fault is at the service: run again later",
    ways: { "run again": missing },
  },
  {
    file: "provider/advice.ts",
    text: "Correct what the message names, and run again.",
    ways: { "run again": missing },
  },
  {
    file: "provider/advice.ts",
    text: "This run used the settings that the last",
    ways: {
      "pulumi refresh --run-program": core("configuration", "if the state still has a wrong"),
      "pulumi destroy --run-program": refusedDestroy,
    },
  },

  // ── audit ──
  {
    file: "provider/cli/audit.ts",
    text: "Take them over (",
    ways: {
      "import-plan": engine("importPlan", "a hundred servers are imported"),
      "remove it": test("tests/lifecycle/audit", "after audit printed a discard"),
    },
  },
  {
    file: "provider/cli/audit.ts",
    text: "drops them from the state, and the next",
    ways: { "pulumi refresh, pulumi up": missing },
  },
  {
    file: "provider/cli/audit.ts",
    text: "Keep one resource of each instance.",
    ways: { "pulumi state delete": missing },
  },
  {
    file: "provider/cli/audit.ts",
    text: "creates each of them once more, unless a stack has its instance by then",
    ways: {
      "pulumi import": engine("backends", "if the saved state is older than a create"),
      "pulumi refresh --clear-pending-creates": engine(
        "backends",
        "if the saved state is older than a create",
      ),
    },
  },
  {
    file: "provider/cli/audit.ts",
    text: "again later, or with settings that reach them.",
    ways: { "run again": test("tests/lifecycle/audit", "an unreadable stack means") },
  },
  {
    file: "provider/cli/audit.ts",
    text: "with their base URL and token. For a stack of this folder's project",
    ways: { "--stack": missing },
  },
  {
    file: "provider/cli/compare.ts",
    text: "from the state of ${held.stack}, and lets it run), then",
    ways: { "pulumi state delete, pulumi import": missing },
  },
  {
    file: "provider/cli/compare.ts",
    text: "${drop}\\`${importCommand(resource, id)}",
    ways: {
      "pulumi import": engine("backends", "if the saved state is older than a create"),
    },
  },
  {
    file: "provider/cli/compare.ts",
    text: "takes it over, or says what to do. If the program no longer has that resource",
    ways: {
      "pulumi up": engine("audit", "after a kill during a POST, audit finds"),
      discard: test("tests/lifecycle/audit", "after audit printed a discard"),
    },
  },

  // ── discard ──
  { file: "provider/cli/discard.ts", text: 'ownCommand("discard", only', ways: { part } },
  {
    file: "provider/cli/discard.ts",
    text: "which resumes those of its stack or says what to do",
    ways: {
      "pulumi up": engine("audit", "after a kill during a POST, audit finds"),
      "discard <urn>": test("tests/lifecycle/doctor", "after doctor named a pending create"),
      discard: test("tests/lifecycle/doctor", "after doctor named a pending create"),
    },
  },
  {
    file: "provider/cli/discard.ts",
    text: "take it over by hand",
    ways: { "pulumi import": missing },
  },
  {
    file: "provider/cli/discard.ts",
    text: "before that import, if the state has another instance",
    ways: { "pulumi state delete, pulumi import": missing },
  },
  {
    file: "provider/cli/discard.ts",
    text: "forget it, once you know that it left no running instance",
    ways: {
      discard: test("provider/cli/discard", "without an argument it lists the pending creates"),
    },
  },
  {
    file: "provider/cli/discard.ts",
    text: "There is no pending create with this key or URN.",
    ways: { discard: test("provider/cli/discard", "after a wrong key, the printed discard") },
  },
  {
    file: "provider/cli/discard.ts",
    text: "Several state backends have a pending create for",
    ways: {
      PULUMI_BACKEND_URL: test(
        "provider/cli/discard",
        "with the same URN in two backends, discard forgets",
      ),
    },
  },
  {
    file: "provider/cli/discard.ts",
    text: "Not forgotten: a run is busy with",
    ways: { "discard again": test("provider/cli/discard", "a create that a run is busy with") },
  },
  {
    file: "provider/cli/discard.ts",
    text: "could not be changed. Run",
    ways: { "discard again": test("provider/cli/discard", "if a record could not be changed") },
  },

  // ── doctor ──
  { file: "provider/cli/doctor.ts", text: "would wait and slow down", ways: { reports } },
  {
    file: "provider/cli/doctor.ts",
    text: "Correct it, and run",
    ways: {
      "doctor again": test("tests/lifecycle/doctor", "a proxy variable that is not an address"),
    },
  },
  {
    file: "provider/cli/doctor.ts",
    text: "works without the account call",
    ways: {
      "pulumi up": core("configuration", "a call for which the token lacks the scope"),
      "compute:validateCredentials": test("tests/lifecycle/doctor", "a token without the account"),
    },
  },
  { file: "provider/cli/doctor.ts", text: "the listing is not complete, so", ways: { reports } },
  { file: "provider/cli/doctor.ts", text: "printed no version", ways: { reports } },
  {
    file: "provider/cli/doctor.ts",
    text: "with another state backend, which",
    ways: { discard: test("tests/lifecycle/doctor", "pending creates, and a ledger folder") },
  },
  { file: "provider/cli/doctor.ts", text: "can't work like this", ways: { reports } },
  { file: "provider/cli/doctor.ts", text: "Nothing found prevents", ways: { reports } },

  // ── import-plan ──
  { file: "provider/cli/importPlan.ts", text: "write the file for", ways: { reports } },
  {
    file: "provider/cli/importPlan.ts",
    text: 'importPlanCommand(out ?? "FILE"',
    ways: { "pulumi import --file": engine("importPlan", "a hundred servers are imported") },
  },
  {
    file: "provider/cli/importPlan.ts",
    text: "works for each of these stacks",
    ways: {
      "import-plan again": test(
        "tests/lifecycle/importPlan",
        "if a stack can't be read, or there is no pulumi",
      ),
    },
  },
  {
    file: "provider/cli/importPlan.ts",
    text: "lists the URNs of a stack",
    ways: { "pulumi stack --show-urns": missing },
  },

  // ── The settings of the plugin's commands ──
  { file: "provider/cli/pulumi.ts", text: '["pulumi", ...words]', ways: { reports } },
  {
    file: "provider/cli/pulumi.ts",
    text: "lists the stacks of the project",
    ways: { "pulumi stack ls": missing },
  },
  {
    file: "provider/cli/pulumi.ts",
    text: "or set PULUMI_BACKEND_URL.",
    ways: { "pulumi login": missing, PULUMI_BACKEND_URL: missing },
  },
  {
    file: "provider/cli/service.ts",
    text: "For a stack: ${configCommands[name]}",
    ways: { "pulumi config set": engine("doctor", "doctor checks the configuration") },
  },
  {
    file: "provider/cli/service.ts",
    text: "asks for the token and encrypts it",
    ways: { "pulumi config set --secret": missing },
  },
  {
    file: "provider/cli/service.ts",
    text: "Run the command again later.",
    ways: { "run again": missing },
  },

  // ── Settings ──
  {
    file: "provider/config/configuration.ts",
    text: "Correct each setting in the place where it is set",
    ways: { "run again": missing },
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
    ways: { "pulumi config set": missing, "the environment": missing },
  },
  {
    file: "provider/config/configuration.ts",
    text: "set the argument",
    ways: { "the argument": missing },
  },
  {
    file: "provider/config/settings.ts",
    text: "What a create does if the service lists instances",
    ways: { reports },
  },
  {
    file: "provider/session/connection.ts",
    text: "Run again to use it",
    ways: { "run again": missing },
  },

  // ── Delete ──
  {
    file: "provider/instance/delete.ts",
    text: ", then `pulumi destroy --run-program`",
    ways: { "pulumi destroy --run-program": refusedDestroy },
  },
  {
    file: "provider/instance/delete.ts",
    text: "the delete succeeds once the instance is gone",
    ways: { "remove it": core("delete", "destroy of a live instance fails") },
  },
  {
    file: "provider/instance/delete.ts",
    text: "the resource option retainOnDelete (once a",
    ways: {
      "pulumi state delete": refusedDestroy,
      "compute:deletePolicy retain": refusedDestroy,
      retainOnDelete: missing,
    },
  },
  {
    file: "provider/instance/delete.ts",
    text: "if the service has a destroy call:",
    ways: { "compute:destroyPath": refusedDestroy },
  },
  {
    file: "provider/instance/delete.ts",
    text: "but it can't be proven that the instance is gone",
    ways: { "pulumi state delete": missing },
  },
  {
    file: "provider/instance/delete.ts",
    text: "before it was proven that the instance is gone",
    ways: { "run again": missing },
  },
  {
    file: "provider/instance/delete.ts",
    text: "while the destroy call was under way",
    ways: { "run again": missing },
  },

  // ── Diff ──
  {
    file: "provider/instance/diff.ts",
    text: "It stays as it is in the state, but a refresh",
    ways: { "run again": missing },
  },
  {
    file: "provider/instance/diff.ts",
    text: "is replaced only because it was renamed at the service",
    ways: {
      "rename it back": core("drift", "refresh shows a rename out of band"),
      ignoreChanges: core("drift", "refresh shows a rename out of band"),
      "put its new name into the program": missing,
    },
  },
  {
    file: "provider/instance/diff.ts",
    text: '"  - run again with the configuration',
    ways: { "run again": missing },
  },
  {
    file: "provider/instance/diff.ts",
    text: "the next run then creates a new instance here",
    ways: { "pulumi state delete": missing },
  },
  {
    file: "provider/instance/diff.ts",
    text: "the new instance is created once the old one is gone",
    ways: { "remove it": missing },
  },
  {
    file: "provider/instance/diff.ts",
    text: "have the new instance created beside it",
    ways: { "compute:deletePolicy retain": missing },
  },
  {
    file: "provider/instance/diff.ts",
    text: "if the service has a destroy call:",
    ways: { "compute:destroyPath": missing },
  },
  {
    file: "provider/instance/existence.ts",
    text: "this listing may be another tenant's",
    ways: { "the tenant's token": missing, "pulumi state delete": missing },
  },
  {
    file: "provider/instance/existence.ts",
    text: "Nothing was changed. Run again with the configuration",
    ways: { "run again": missing },
  },

  // ── Create ──
  { file: "provider/instance/messages.ts", text: "discardCommand(key)", ways: { part } },
  {
    file: "provider/instance/messages.ts",
    text: "another run, which is still under way, creates",
    ways: { "run again": missing },
  },
  {
    file: "provider/instance/messages.ts",
    text: "was under way together with another run of this stack",
    ways: {
      "pulumi import": secondServer("after `pulumi cancel` and a second run"),
      "remove it, discard": secondServer("after two runs that saved their states over each other"),
      "remove it": secondServer("after two runs that saved their states over each other"),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: 'This run created nothing, because compute:leftovers is "fail"',
    ways: {
      "pulumi import": secondServer("a run is killed after the 202, and the resource is renamed"),
      discard: missing,
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "and this machine's ledger does not show what became of it",
    ways: { "pulumi import": afterKill, discard: afterKill },
  },
  {
    file: "provider/instance/messages.ts",
    text: "Look with \\`pulumi stack --show-ids",
    ways: {
      discard: missing,
      "pulumi refresh": missing,
      "pulumi import": promises("after a plugin was killed and an import only previewed"),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: 'A new instance is created nevertheless, since compute:leftovers is "warn"',
    ways: {
      "pulumi state delete, pulumi import": secondServer(
        "a run is killed after the 202, and the resource is renamed with an alias: with leftovers warn",
      ),
      discard: missing,
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "which may come from a create without a clear answer",
    ways: {
      "pulumi import": typedCommands("the import that an extra instance prints"),
      "remove it": missing,
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: '\\`${importAs("<name>", id, own.provider)}\\`)`',
    ways: { "pulumi import": missing },
  },
  {
    file: "provider/instance/messages.ts",
    text: "new instances are created although",
    ways: {
      "pulumi import": missing,
      "remove it": missing,
      "compute:leftovers fail": missing,
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "`\\`${importCommand(spec.own, id)}\\``",
    ways: { part },
  },
  {
    file: "provider/instance/messages.ts",
    text: "after which the provider knows that, and run again",
    ways: {
      "pulumi refresh": missing,
      "pulumi import": typedCommands("after a kill during a create and the loss of the ledger"),
      "remove it": missing,
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "To create a new instance anyway",
    ways: { "compute:leftovers warn": core("replaceAgain", "--replace creates nothing with") },
  },
  {
    file: "provider/instance/messages.ts",
    text: "still exists or is too young to be listed",
    ways: {
      "remove it": missing,
      "compute:deletePolicy retain": missing,
      "pulumi import": missing,
      discard: missing,
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "because each run creates an instance",
    ways: { "look for the name": missing },
  },
  {
    file: "provider/instance/messages.ts",
    text: "on this machine searches for it before it creates anything",
    ways: { "pulumi up": missing },
  },
  {
    file: "provider/instance/messages.ts",
    text: '`\\`${importCommand(own, "<id>")}\\``',
    ways: {
      "pulumi import": typedCommands("the import that a pending create of an explicit provider"),
    },
  },
  {
    file: "provider/instance/messages.ts",
    text: "has turned up since, ${id}. The provider did not generate the name",
    ways: { "pulumi import": missing },
  },
  {
    file: "provider/instance/messages.ts",
    text: "If this create made none of them",
    ways: { discard: missing },
  },
  {
    file: "provider/instance/pendingCreates.ts",
    text: "take it over with \\`${importCommand(record",
    ways: { "pulumi import": missing, discard: missing },
  },
  {
    file: "provider/instance/pendingCreates.ts",
    text: "Other projects have ${elsewhere} more",
    ways: { discard: missing },
  },

  // ── The wait, and reads ──
  {
    file: "provider/instance/read.ts",
    text: "was not finished when last seen",
    ways: { "pulumi up": missing },
  },
  {
    file: "provider/instance/ready.ts",
    text: "is now missing from two complete listings",
    ways: { "pulumi up": missing },
  },
  {
    file: "provider/instance/ready.ts",
    text: "listings are cut off before they show it",
    ways: { "compute:cursorParameter, pulumi refresh": missing },
  },
  {
    file: "provider/instance/ready.ts",
    text: "is still PROVISIONING. \\`pulumi up\\` waits until it is ready",
    ways: { "pulumi up": waits },
  },
  {
    file: "provider/instance/ready.ts",
    text: "Start it at the service, then run",
    ways: { "pulumi refresh": missing },
  },
  {
    file: "provider/instance/ready.ts",
    text: "If it becomes ACTIVE or OFFLINE, the next",
    ways: { "pulumi up": missing, "remove it": missing },
  },
  {
    file: "provider/instance/ready.ts",
    text: "later to see whether the status has changed",
    ways: { "pulumi refresh": missing },
  },
  {
    file: "provider/instance/ready.ts",
    text: "exists, and no state holds it. To take it over",
    ways: { "pulumi import": missing },
  },
  {
    file: "provider/instance/ready.ts",
    text: "is kept in the state; the next",
    ways: { "pulumi up": waits },
  },
  {
    file: "provider/instance/update.ts",
    text: "no longer exists. Run",
    ways: { "pulumi refresh, pulumi up": missing },
  },
  {
    file: "provider/rpc/errors.ts",
    text: "was left out of the state of the instance",
    ways: { "pulumi up": missing },
  },
  {
    file: "provider/rpc/service.ts",
    text: "reads the instance again",
    ways: { "pulumi up": missing },
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
];
