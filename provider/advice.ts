/** The next step that each error names (G9), and the commands that a person can type for it. */
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import metadata from "../metadata.json";
import { attempt } from "./attempt";
import type { RequestError, SettingWords } from "./api/requestError";
import type { SettingName, SettingVariables } from "./config/settings";
import type { Report } from "./errors";
import { executablePath, bundleFolder } from "./process/executable";
import { pulumiHome } from "./pulumi/home";
import { instanceToken } from "./pulumi/names";
import { programQuote, shellQuote } from "./shellQuote";
import { hasParent, logicalName } from "./pulumi/urn";

/** The commands that set what the provider needs, none of which keeps a token in clear text. */
export const configCommands = {
  baseUrl: "pulumi config set compute:baseUrl",
  apiToken: "pulumi config set --secret compute:apiToken",
} as const;

/** Where a run has its settings from. */
export interface SettingPlaces {
  /** The environment variables, or the options of a command, from which some settings come. */
  readonly variables: SettingVariables;
  /** The file of the token, if it has one. */
  readonly tokenFile?: string | undefined;
  /** The URN of the explicit provider resource. Undefined for a default provider. */
  readonly providerUrn?: string | undefined;
  /** The stack of a command, which may not be the selected one. */
  readonly stack?: string | undefined;
  /** With the kind "recorded", the state has the settings that come from no variable. */
  readonly engine: { readonly kind: string };
}

/** The places of settings that come from the configuration of a stack. */
export const stackPlaces: SettingPlaces = { variables: {}, engine: { kind: "program" } };

/** Says in brackets which command makes a change of this setting count, if the run has the setting from the state. */
export function afterChange(name: string, { variables, engine }: SettingPlaces): string {
  const isRecorded = engine.kind === "recorded" && !(name in variables);
  return isRecorded ? " (after a change: `pulumi refresh --run-program`)" : "";
}

/** Returns what messages call a setting: its name, and where the run has it from. */
export function settingName(name: SettingName, { variables, providerUrn }: SettingPlaces): string {
  const variable = variables[name];
  if (variable) return `compute:${name} (from ${variable})`;
  return providerUrn ? `${name} of the provider "${logicalName(providerUrn)}"` : `compute:${name}`;
}

/** Returns how a run gets another address: a clause with the one command, unless only the program can give it. */
export function wayToAddress(url: string, places: SettingPlaces): string {
  const { variables, providerUrn, engine } = places;
  const address = shellQuote(url);
  if (variables.baseUrl) return `put ${variables.baseUrl}=${address} before the command`;
  if (providerUrn)
    return `give the provider "${logicalName(providerUrn)}" the baseUrl ${url}${afterChange("baseUrl", places)}`;
  return engine.kind === "recorded"
    ? `\`pulumi refresh --run-program -c compute:baseUrl=${address}\``
    : `\`pulumi up -c compute:baseUrl=${address}\``;
}

/** Returns how an `up` gets another cursor parameter. */
export function wayToCursor(name: string, { providerUrn }: SettingPlaces): string {
  return providerUrn
    ? `give the provider "${logicalName(providerUrn)}" the cursorParameter ${name}`
    : `\`pulumi up -c compute:cursorParameter=${name}\``;
}

/** Returns how a run gets another token, which `token` describes, as `wayToAddress` does. */
export function wayToToken(token: string, places: SettingPlaces): string {
  const { variables, providerUrn, stack, tokenFile = variables.apiToken } = places;
  if (tokenFile) return `put ${token} in ${tokenFile}`;
  const way = providerUrn
    ? `give the provider "${logicalName(providerUrn)}" ${token} as apiToken`
    : `set ${token} with \`${inStack(configCommands.apiToken, stack)}\``;
  return way + afterChange("apiToken", places);
}

/** Returns what the advice for a failed request says of the settings of a run. */
export function settingWords(places: SettingPlaces): SettingWords {
  return {
    toChange: (name) => settingName(name, places) + afterChange(name, places),
    wayToValidToken: () => wayToToken("a valid one", places),
  };
}

/** The words for an error that carries none. */
const plainWords = settingWords(stackPlaces);

/** The commands with a way out that holds for one run (`config/oneRun.ts`). */
export const oneRunCommands = {
  retain: "COMPUTE_DELETE_POLICY=retain pulumi up",
  besideLeftovers: "COMPUTE_LEFTOVERS=warn pulumi up",
  replaceTainted: "COMPUTE_DELETE_POLICY=retain COMPUTE_LEFTOVERS=warn pulumi up",
} as const;

/** Returns a list, one item a line. */
export function bulleted(items: readonly string[]): string[] {
  return items.map((item) => `  - ${item}`);
}

/** Returns the address of a page of the documentation. */
export function pageAt(page: string): string {
  return `${metadata.homepage}/blob/main/docs/${page}`;
}

/** Returns the report of what a failed request has prevented. `own`: as in `Report`. */
export function requestReport(own: string, error: RequestError): Report {
  return { own, shared: [`: ${error.message}.`, nextStep(error)], requests: [error] };
}

/** Returns a sentence on what to do about a failed request. */
export function nextStep(error: RequestError): string {
  const { about, method, service, mayHaveActed, words = plainWords } = error;
  const sent = mayHaveActed ? "" : "Nothing was sent. ";
  switch (about) {
    case "certificate":
      return `${sent}Check this machine's clock. If it is right, only the operator of that host can renew the certificate.`;
    case "way":
      return `${sent}Check ${words.toChange("baseUrl")}, the network and the proxy settings, and run again.`;
    case "silence":
      return `Run again; a longer ${words.toChange("requestTimeoutSeconds")} may help.`;
    case "encoding":
      return "Only the service, or a proxy on the way to it, can leave the encoding out: report this to its operator.";
    case "elsewhere":
      return method === "DELETE"
        ? `Check that ${words.toChange("destroyPath")} is the service's destroy call.`
        : `${wayToService(words)}.`;
    case "form":
      return `${wayToService(words)}; if it is, report this to its operator.`;
    case "token":
      return `The token is invalid, expired or revoked: ${words.wayToValidToken()}.`;
    case "scope": {
      // Some services answer a quota in the same way.
      const subject =
        service.message === undefined ? "The" : "Unless that names another reason, the";
      return `${subject} token lacks the scope for this call: grant it in the administration portal, or use another token.`;
    }
    case "fault": {
      const report = service.requestId ? ", and give its operator the request_id" : "";
      return `The fault is at the service: run again later${report}.`;
    }
    case "size":
      return "The request is too large for the service or a proxy before it: pack the script with gzip, and give it as userDataBase64.";
    case "pause":
      return "Run again.";
    case "absence":
    case "request":
      // The document shows no other code. A service may also refuse because of its stock, or of a quota.
      return (service.code ?? "invalid_parameter") === "invalid_parameter"
        ? "Correct what the message names, and run again."
        : "Change what the message names, or run again later.";
  }
}

const wayToService = (words: SettingWords) =>
  `Check that ${words.toChange("baseUrl")} is the address of the Compute Instances Service`;

/**
 * Returns the warning that the cursor parameter did not lead to all pages of a listing, and never will if `isLasting`. `why` is a
 * phrase such as "a page repeated instances of an earlier page". `then`: as `afterChange` returns it.
 */
export function cursorWarning(
  parameter: string | undefined,
  { why, isLasting }: { why: string; isLasting: boolean },
  then: string,
): string {
  const setting = `compute:cursorParameter "${parameter}"`;
  return isLasting
    ? `the service did not page by ${setting} (${why}); instances are listed by status instead, at most 100 of each. The rest of this run lists without it. Set compute:cursorParameter to the name that the service uses for the parameter, or remove the setting${then}.`
    : `the pages of a listing by ${setting} may lack instances (${why}); its instances are also listed by status, at most 100 of each. The next listing uses the parameter again. If every run says this, the service may use another parameter.`;
}

/**
 * Returns the command that imports the instance as the resource of this URN. `provider` is the URN of its provider, unless that
 * is a default provider. `parent` is the URN of its component: if that is not known, a person fills it in.
 */
export function importCommand(
  {
    urn,
    provider,
    parent,
  }: { urn: string; provider?: string | undefined; parent?: string | undefined },
  id: string,
): string {
  const component = parent === undefined ? "<name>=<urn of its component>" : nameAndUrn(parent);
  const options = hasParent(urn) ? ` --parent ${shellQuote(component)}` : "";
  return importAs(logicalName(urn), id, provider, options);
}

/** Returns the command that imports the instance as a resource of this name, which the program need not have yet. */
export function importAs(name: string, id: string, providerUrn?: string, parent = ""): string {
  const provider =
    providerUrn === undefined ? "" : ` --provider ${shellQuote(nameAndUrn(providerUrn))}`;
  const options = provider + parent;
  const names = `${shellQuote(name)} ${shellQuote(id)}`;
  // Pulumi would take a word that begins with a dash for an option.
  return name.startsWith("-") || id.startsWith("-")
    ? `pulumi import ${instanceToken}${options} -- ${names}`
    : `pulumi import ${instanceToken} ${names}${options}`;
}

/** How `pulumi import` takes another resource. */
const nameAndUrn = (urn: string) => `${logicalName(urn)}=${urn}`;

/**
 * Returns the command that removes a resource from the state, but not its instance from the service. `--force`, because an
 * import protects a resource.
 */
export function stateDeleteCommand(urn: string): string {
  return `pulumi state delete ${shellQuote(urn)} --force --yes`;
}

/** How the pages write a command of the plugin. The words of the command follow. */
export const pluginRun = `pulumi plugin run --kind resource ${metadata.name} --`;

/**
 * Returns a command of the plugin, as a person types it on this machine. `pulumi plugin run` finds installed plugins, but not
 * the one that a project names, and one on PATH only if a person's shell has the same PATH. Those are named by their path.
 */
export function pluginCommand(...words: readonly string[]): string {
  const start = isInstalled() ? pluginRun : programQuote(executablePath());
  return [start, ...words.map((word) => shellQuote(word))].join(" ");
}

/** Whether Pulumi has installed this plugin: its folder is one of those in the Pulumi home. */
function isInstalled(): boolean {
  const plugins = join(pulumiHome(process.env), "plugins");
  return attempt(() => dirname(realpathSync(bundleFolder)) === realpathSync(plugins)) ?? false;
}

/** Returns the command that settles what is in doubt, with these options. */
export function settleCommand(...options: readonly string[]): string {
  return pluginCommand("settle", ...options);
}

/** Returns the command that imports what the plan in `file` names, into `stack` or into the current stack. */
export function importPlanCommand(file: string, stack: string | undefined): string {
  return inStack(`pulumi import --file ${shellQuote(file)}`, stack);
}

/** Returns the command for `stack`, or for the stack that is selected where a person types it. */
export function inStack(command: string, stack: string | undefined): string {
  return stack === undefined ? command : `${command} --stack ${shellQuote(stack)}`;
}
