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
const settled = (name: string) => engine("settle", name);
const asked = (name: string) => engine("settleAsks", name);
const witnessed = (name: string) => engine("settleWitness", name);
const audited = (name: string) => test("tests/lifecycle/audit", name);
const pause = (name: string) => test("tests/simulation/pauses", name);

const leftovers = (name: string) => engine("leftovers", name);
const oneRun = (name: string) => engine("oneRun", name);
const refusedDelete = oneRun("after a refused up and a refused destroy, the printed commands");
const refusedReplacement = engine("adviceDelete", "after a refused replacement of several servers");
const portLater = engine("waitForPort", "a port that does not answer in time keeps the instance");
const portNever = engine("waitForPort", "a port that can't answer is left out of the program");
const probed = engine("probe", "a new user types probe at a terminal");
const waits = core("waiting", "after a time-out the id is in the state");
const addressLater = core("waiting", "an instance that is ACTIVE before its address is listed");

/** A message that reports something and advises nothing. */
const reports = { noRun: "it reports what a command does, and advises nothing" };
const usage = { noRun: "the help repeats what was typed" };
const part = { noRun: "the part of a message whose whole text has an entry of its own" };

export const advice: readonly Advice[] = [
  // ── Requests that fail ──
  {
    file: "provider/advice.ts",
    text: "the network and the proxy settings, and run again.",
    ways: {
      "correct the address": engine("adviceSettings", "with the address of another port, doctor"),
      "correct the proxy": commands("doctor names a proxy variable that is no address"),
    },
  },
  {
    file: "provider/advice.ts",
    text: "Run again; a longer",
    ways: {
      "run again": engine(
        "adviceSettings",
        "if a listing takes longer than the time-out of a request",
      ),
    },
  },
  {
    file: "provider/advice.ts",
    text: "set ${token} with",
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
    text: "(after a change: ",
    ways: {
      "an address": core("configuration", "if the state still has a wrong"),
      "a token": engine(
        "adviceSettings",
        "after a token of the state was revoked, what the refresh",
      ),
    },
  },

  // ── The command line ──
  { file: "cli/commandLine.ts", text: "pluginCommand()", ways: { usage } },
  { file: "cli/emulator.ts", text: "pluginCommand(", ways: { usage } },
  {
    file: "cli/commandLine.ts",
    text: "`See ${pluginCommand(",
    ways: {
      "--help": typedCommands("with nothing but pulumi on PATH, `pulumi plugin run` passes"),
    },
  },

  // ── audit ──
  { file: "cli/audit.ts", text: 'pluginCommand("audit", "--plan", "FILE"', ways: { part } },
  { file: "cli/audit.ts", text: "inStack(planning,", ways: { part } },
  {
    file: "cli/report.ts",
    text: "Take them over (",
    ways: {
      "audit --plan": commands("audit finds an instance made by hand"),
      "remove it": { noRun: "the service's portal is not ours" },
    },
  },
  {
    file: "cli/report.ts",
    text: "drops what is gone from the state. The next",
    ways: {
      "pulumi refresh": commands("audit finds an instance made by hand"),
      "pulumi up": commands("audit finds an instance made by hand"),
    },
  },
  { file: "cli/report.ts", text: "Keep one resource of each instance", ways: { part } },
  {
    file: "cli/report.ts",
    text: "inStack(stateDeleteCommand(urn), stack)",
    ways: {
      "pulumi state delete": commands("audit finds an instance that three resources manage"),
    },
  },
  {
    file: "cli/report.ts",
    text: "again when no run is under way.",
    ways: {
      "run again": audited("an unreadable stack means"),
      "audit --plan again": test(
        "tests/lifecycle/importPlan",
        "if a stack can't be read, or there is no pulumi",
      ),
    },
  },
  {
    file: "cli/report.ts",
    text: "with their base URL and token. `--stack NAME`",
    ways: {
      "--stack": commands("doctor asks for the address and the token of each stack"),
      "base URL and token": commands("doctor asks for the address and the token of each stack"),
    },
  },

  // ── settle ──
  {
    file: "cli/records.ts",
    text: "inStack(settleCommand(), stack)",
    ways: { settle: commands("after a run was killed during a create, the settle that %s prints") },
  },
  {
    file: "cli/pulumi.ts",
    text: "`pulumi cancel --yes` removes its lock.",
    ways: { "pulumi cancel": settled("after a kill in the POST, on %s, the next up has nothing") },
  },
  {
    file: "cli/pulumi.ts",
    text: "Run the command again: it looks at the state anew.",
    ways: { "run again": settled("a stack that a killed run has left locked stays as it is") },
  },
  {
    file: "cli/settle/write.ts",
    text: "goes on with it",
    ways: { "pulumi up": settled("after a kill in the POST, on %s, the next up has nothing") },
  },
  {
    file: "cli/settle/words.ts",
    text: "run `settle` with the settings that it was made with",
    ways: { settle: witnessed("an instance of the stack in the listing vouches for the place") },
  },
  {
    file: "cli/settle/words.ts",
    text: 'settleCommand("--yes", ...options, ...words)',
    ways: {
      "--take": settled("an explicit name proves nothing: a person takes"),
      "the questions": asked("an instance that is not taken over may be forgotten"),
      "--forget": settled("what the token at hand can't prove is a person's to decide"),
      "--forget beside a server": settled("a pending create that is older than the server"),
    },
  },
  {
    file: "cli/settle/words.ts",
    text: "`pulumi up` goes on with it",
    ways: { "pulumi up": settled("after a kill in the POST, on %s, the next up has nothing") },
  },
  {
    file: "cli/settle/words.ts",
    text: "`pulumi up` asks the listing of its own service",
    ways: { "pulumi up": settled("a create that left nothing stops no up") },
  },
  {
    file: "provider/create/reports.ts",
    text: "oneRunCommands.besideLeftovers",
    ways: {
      "a second one": leftovers("with compute:leftovers fail and a name that the program chose"),
      "a generated name": core(
        "replaceAgain",
        "--replace creates nothing with compute:leftovers fail",
      ),
      "a live one": core("replaceAgain", "%s of a live instance: the command that the stop alone"),
    },
  },
  {
    file: "provider/create/reports.ts",
    text: "oneRunCommands.replaceTainted",
    ways: {
      "--replace, and a taint": core("replaceAgain", "%s of a live instance that no delete can"),
      replacementTrigger: leftovers("where a replacementTrigger has changed"),
    },
  },
  { file: "provider/create/reports.ts", text: ", with the same options, creates", ways: { part } },
  {
    file: "provider/create/reports.ts",
    text: "To create it all the same: ",
    ways: {
      "an incomplete listing": leftovers("with compute:leftovers fail and an incomplete listing"),
    },
  },
  {
    file: "provider/create/reports.ts",
    text: "To take it over: ",
    ways: {
      "pulumi import": leftovers("with compute:leftovers fail and a name that the program chose"),
      "remove it": { noRun: "the service's portal is not ours" },
    },
  },
  {
    file: "provider/create/reports.ts",
    text: "To see whether a create is in doubt",
    ways: { settle: leftovers("a chosen name whose create another machine has left in doubt") },
  },
  {
    file: "provider/create/reports.ts",
    text: "To see what is in no stack",
    ways: { audit: settled("the up that settle prints beside a leftover makes a second") },
  },
  {
    file: "cli/settle/words.ts",
    text: "importCommand({ urn, provider, parent",
    ways: { "pulumi import": settled("a server whose resource has left the state is named") },
  },
  { file: "cli/settle/words.ts", text: "inStack(importing, state.stack)", ways: { part } },
  {
    file: "cli/settle/words.ts",
    text: "oneRunCommands.retain",
    ways: {
      "a replacement": settled("under the policy fail, the command that settle names"),
    },
  },
  {
    file: "cli/settle/words.ts",
    text: "oneRunCommands.replaceTainted",
    ways: { "a taint": core("replaceAgain", "%s of a live instance that no delete can destroy") },
  },
  {
    file: "cli/settle/words.ts",
    text: "goes on with it, and drops",
    ways: { "pulumi up": settled("under the policy fail, the command that settle names") },
  },
  {
    file: "cli/settle/words.ts",
    text: "oneRunCommands.besideLeftovers",
    ways: { "a second one": settled("the up that settle prints beside a leftover makes a second") },
  },
  {
    file: "cli/settle/words.ts",
    text: "inStack(up, context.stackOption)",
    ways: { "pulumi up": witnessed("what stops an up is named with the stack") },
  },
  { file: "cli/settle/words.ts", text: "→ \\`${command}\\`", ways: { part } },
  {
    file: "cli/settle/settle.ts",
    text: "The rest is left to `pulumi up`",
    ways: { "pulumi up": settled("an interrupted replacement with a file is left to `up`") },
  },
  {
    file: "cli/settle/settle.ts",
    text: "All of it, each by its first way",
    ways: { "--take": witnessed("several creates that a person decides take one command") },
  },
  {
    file: "cli/settle/settle.ts",
    text: "To be asked only about that",
    ways: { settle: asked("one create left open keeps the others from being done") },
  },
  {
    file: "provider/create/reports.ts",
    text: "If Pulumi warns of pending operations",
    ways: { settle: typedCommands("at a terminal, the three commands of docs/recover.md") },
  },
  {
    file: "provider/create/reports.ts",
    text: "To give that up",
    ways: { "--forget": settled("a create that stops because the program has changed") },
  },
  {
    file: "cli/settle/settle.ts",
    text: "run `settle` again.",
    ways: { settle: settled("a stack that a killed run has left locked stays as it is") },
  },
  {
    file: "cli/settle/write.ts",
    text: "Run `settle` again.",
    ways: { settle: asked("at a terminal, settle asks, and changes nothing if the state has") },
  },
  {
    file: "cli/settle/write.ts",
    text: "is writable and that its disk has room, and run the command again.",
    ways: { "run again": { noRun: "the system's message says what is wrong with the disk" } },
  },

  // ── doctor ──
  { file: "cli/doctor.ts", text: "drops none: ${whyIncomplete", ways: { reports } },
  { file: "cli/doctor.ts", text: "reads this state, too", ways: { reports } },
  {
    file: "cli/doctor.ts",
    text: "may not notice, and makes further instances",
    ways: {
      "other settings": test("tests/lifecycle/doctor", "doctor warns of the stack's instances"),
    },
  },
  { file: "cli/doctor.ts", text: "Nothing found prevents", ways: { reports } },
  { file: "cli/doctor.ts", text: "finds out with a test token", ways: { probe: probed } },

  // ── probe ──
  {
    file: "cli/probe/table.ts",
    text: "inStack(`pulumi config set compute:${name}",
    ways: { "pulumi config set": probed },
  },
  { file: "cli/probe/table.ts", text: "send DELETE, and the server ends", ways: { reports } },

  // ── audit --plan ──
  {
    file: "cli/plan.ts",
    text: "importPlanCommand(file, stack)",
    ways: { "pulumi import --file": engine("importPlan", "a hundred servers are imported") },
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
    text: "Correct that file, and run this again.",
    ways: { again: commands("without a login, and with a wrong folder or stack") },
  },
  {
    file: "cli/pulumi.ts",
    text: "remove that file, and run this again.",
    ways: { again: commands("after a kill has cut a file of the file backend") },
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
    file: "cli/pulumi.ts",
    text: "read -rs PULUMI_CONFIG_PASSPHRASE",
    ways: { read: engine("settleWrite", "the state gets secret outputs encrypted") },
  },
  {
    file: "cli/pulumi.ts",
    text: "once the state backend answers",
    ways: { "run again": test("cli/pulumi", "a command that only reads is ended after a minute") },
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
    file: "cli/listings.ts",
    text: "Run the command again later. If",
    ways: { "run again": audited("if every request is answered with a 429${pause}") },
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
    text: "run \\`${configCommands[name]}",
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
    text: "What the state holds of the user data",
    ways: { reports },
  },

  {
    file: "provider/config/oneRun.ts",
    text: "Correct or unset it, and run again",
    ways: { "unset it": oneRun("COMPUTE_DELETE_POLICY=fail refuses although the state") },
  },

  // ── Inputs ──
  {
    file: "provider/pulumi/textTypes.ts",
    text: "pulumi config set --path 'ids[0]'",
    ways: {
      "a list": core("inputs", "an id of digits from the configuration of a program in YAML"),
    },
  },

  // ── Import ──
  {
    file: "provider/instance/check.ts",
    text: "because an import can't read",
    ways: { "fill it in": core("import", "after an import, an up with the code that") },
  },

  // ── Delete ──
  {
    file: "provider/session/retainedInstances.ts",
    text: "in the settings that the last `pulumi up` recorded",
    ways: { reports },
  },
  {
    file: "provider/instance/delete.ts",
    text: "the new one is ready",
    ways: {
      "pulumi up --refresh": core("successor", "an ACTIVE server is not ended for one that is"),
    },
  },
  {
    file: "provider/instance/delete.ts",
    text: "once it is gone, drop it from the state",
    ways: {
      "pulumi state delete, not provable": engine("adviceDelete", "if a DELETE was sent and no"),
      "pulumi state delete, listed": engine("adviceDelete", "if a DELETE was sent and no"),
    },
  },
  {
    file: "provider/instance/delete.ts",
    text: "${stays} Run again",
    ways: { "run again": engine("adviceDelete", "after a DELETE that ended with Ctrl-C") },
  },

  {
    file: "provider/advice.ts",
    text: "Change what the message names, or run again later.",
    ways: { "another flavor, or later": engine("soldOut", "after two refusals") },
  },
  {
    file: "provider/instance/diff.ts",
    text: "refuses that for as long as it exists",
    ways: { reports },
  },
  // ── Refused deletes and replacements, and instances out of reach ──
  {
    file: "provider/instance/refusals.ts",
    text: "${remove}, and run this again",
    ways: {
      "after a destroy": core("delete", "destroy of a live instance fails"),
      "after a replacement": refusedReplacement,
      "of each": core("delete", "if a server uses another one's output, the preview refuses"),
      "of one that is needed": core("successor", "a server that the program deletes before"),
    },
  },
  {
    file: "provider/instance/refusals.ts",
    text: "Then ${remove}, and run the refused command again",
    ways: {
      "pulumi refresh": engine("adviceDelete", "with a new token, the refresh that a refused"),
    },
  },
  {
    file: "provider/instance/refusals.ts",
    text: "${drop}: \\`${oneRunCommands.retain}",
    ways: { "pulumi up": refusedDelete },
  },
  {
    file: "provider/instance/refusals.ts",
    text: "create the new ones beside the old ones",
    ways: {
      "beside it": refusedReplacement,
      "it is gone": engine("adviceDelete", "if $what, a refused replacement prints the up"),
      "a provider of the program's own": oneRun("a provider of the program's own"),
    },
  },
  {
    file: "provider/advice.ts",
    text: "`pulumi up -c compute:baseUrl",
    ways: {
      "pulumi up -c": engine("adviceDelete", "with another address, up, refresh, destroy"),
    },
  },
  {
    file: "provider/advice.ts",
    text: "`pulumi refresh --run-program -c compute:baseUrl",
    ways: {
      "pulumi refresh -c": engine("adviceDelete", "with another address, up, refresh, destroy"),
    },
  },
  {
    file: "provider/create/preview.ts",
    text: "will fail unless this is mended",
    ways: { reports },
  },

  // ── Create ──
  {
    file: "provider/create/reports.ts",
    text: "Run again once that run has ended.",
    ways: {
      "run again": engine("adviceCreate", "after `pulumi cancel`, a second run waits for the"),
    },
  },
  {
    file: "provider/create/reports.ts",
    text: "settleCommand()",
    ways: { settle: settled("after a kill between the reply and the save, on %s, preview warns") },
  },
  {
    file: "provider/create/reports.ts",
    text: "first looks for what was made",
    ways: { "pulumi up": core("interrupted", "after Ctrl-C twice during the POST") },
  },
  { file: "provider/create/reports.ts", text: "waits for its end", ways: { reports } },
  { file: "provider/create/reports.ts", text: "will stop here", ways: { reports } },
  {
    file: "provider/create/reports.ts",
    text: "because each run creates an instance",
    ways: {
      "look for the name": engine(
        "adviceReady",
        "without a clear answer, the service's listing has",
      ),
    },
  },

  // ── The wait, and reads ──
  {
    file: "provider/instance/read.ts",
    text: " is PROVISIONING. `pulumi up` waits until it is ready",
    ways: { "pulumi up": core("import", "an import by name fails and names the id") },
  },
  {
    file: "provider/instance/read.ts",
    text: ". The next `pulumi up` goes on waiting for it",
    ways: {
      "pulumi up": engine("adviceReady", "a refresh whose listing lacks an unfinished instance"),
    },
  },
  {
    file: "provider/instance/ready.ts",
    text: ". Run `pulumi up` again to create it anew",
    ways: {
      "pulumi up": engine(
        "adviceReady",
        "an instance that is removed at the service during the wait",
      ),
    },
  },
  {
    file: "provider/instance/read.ts",
    text: ". \\`pulumi up\\` waits for it",
    ways: {
      "status: pulumi up": waits,
      "port: pulumi up": portLater,
      "address: pulumi up": addressLater,
    },
  },
  {
    file: "provider/instance/address.ts",
    text: "records an address that comes later",
    ways: {
      "pulumi refresh": engine("adviceReady", "after the warning that no address is listed"),
    },
  },
  {
    file: "provider/instance/ready.ts",
    text: "can't answer. Start it at the service, then run \\`pulumi up\\`",
    ways: { "start it": portNever, "leave it out": portNever },
  },
  {
    file: "provider/instance/ready.ts",
    text: "so its status and its address are not known",
    ways: {
      "pulumi refresh": engine(
        "adviceReady",
        "if the listings are cut off before a new instance and there is no cursor",
      ),
    },
  },
  {
    file: "provider/advice.ts",
    text: "pulumi up -c compute:cursorParameter=${name}",
    ways: {
      "its name": engine("adviceReady", "if the listings are cut off before a new instance"),
      none: engine(
        "adviceReady",
        "if the listings are cut off before a new instance and there is no cursor",
      ),
    },
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
    text: "shows whether it has changed",
    ways: {
      "pulumi refresh": engine("adviceReady", "after the warning that an instance is OFFLINE"),
      "pulumi state delete": engine("adviceReady", "after the warning that an instance is DELETED"),
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
    text: "is kept in the state, and the next",
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
  // ── A pause that the service asks for ──
  {
    file: "provider/abort.ts",
    text: "Run again ${end}",
    ways: {
      "run again": pause("if %s is answered with a pause of a day, the creates end at once"),
      "pulumi up": pause("if the wait for an accepted instance meets a pause of a day"),
      "a delete": pause("if the destroy call is answered with a pause of a day"),
    },
  },
  {
    file: "cli/listings.ts",
    text: "Run the command again after that time.",
    ways: { "run again": audited("if every request is answered with a 429${pause}") },
  },
];
