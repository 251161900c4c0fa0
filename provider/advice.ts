/** What a person can do next, for errors and warnings (G9), and the commands that these name. */
import type { RequestError } from "./api/errors";
import { executablePath } from "./executable";
import { instanceToken } from "./pulumiNames";

/** The error's message, and the next step. */
export function explain(error: RequestError): string {
  return `${error.message}. ${nextStep(error)}`;
}

/** What a person can do about a failed request. */
export function nextStep(error: RequestError): string {
  const { kind, status = 0, service } = error;
  if (kind === "unsendable") {
    return "Nothing was sent. Remove the instance at the service (its portal), then run this again.";
  }
  if (kind === "unreachable") {
    return "Nothing was sent. Check compute:baseUrl, the network and the proxy settings, and run again.";
  }
  if (kind === "unanswered") return "Run again; a longer compute:requestTimeoutSeconds may help.";
  if (kind === "unreadable" || status < 400) {
    return "Check that compute:baseUrl is the address of the Compute Instances Service.";
  }
  if (status === 401) {
    return "The token is invalid, expired or revoked: give a valid one with `pulumi config set --secret compute:apiToken` or COMPUTE_API_TOKEN. `pulumi refresh` and `pulumi destroy` use what the last `pulumi up` recorded: add --run-program to them.";
  }
  if (status === 403) {
    return "The token lacks the scope for this call: grant it in the administration portal, or use another token.";
  }
  if (status >= 500) {
    const report = service.requestId ? ", and give its operator the request_id" : "";
    return `The fault is at the service: run again later${report}.`;
  }
  return "Correct what the message names, and run again.";
}

/** The warning for a service that ignores the cursor parameter of the settings. */
export function cursorIgnored(parameter: string | undefined, why: string): string {
  return `the service did not page by compute:cursorParameter "${parameter}" (${why}); instances are listed by status instead, 100 of each at the most`;
}

/** The name that a program gave the resource: what follows stack, project and type in its URN. */
export function logicalName(urn: string): string {
  return urn.split("::").slice(3).join("::") || urn;
}

/**
 * How the engine names a default provider: `default`, then the version and the download address that the
 * SDK asks for, if any (`default_0_1_0_https_/example.com/dl`).
 */
const defaultProvider =
  /^default(?:_\d+_\d+_\d+(?:_[\dA-Za-z-]+)*)?(?:_[A-Za-z][\w.-]*_\/[\w./-]+)?$/;

/** The URN if it is of a provider that the program makes; undefined for a default provider. */
export function explicitProvider(urn: string | undefined): string | undefined {
  if (urn === undefined) return undefined;
  const [, , type = "", ...nameParts] = urn.split("::");
  const name = nameParts.join("::");
  // The provider of `pulumi do --stateless` has no name.
  if (name === "") return undefined;
  const isDefault = !type.includes("$") && defaultProvider.test(name);
  return isDefault ? undefined : urn;
}

/**
 * The command that imports the instance as a resource of the program. `provider` is the URN of the
 * resource's own provider; undefined: a default one.
 */
export function importCommand(
  { urn, provider }: { urn: string; provider?: string | undefined },
  id: string,
): string {
  // The URN shows that a resource is a component's child, but not the component's name.
  const isChild = urn.split("::")[2]?.includes("$") === true;
  return (
    importAs(logicalName(urn), id, provider) +
    (isChild ? " --parent '<name>=<urn of its component>'" : "")
  );
}

/** The command that imports an instance for which the program has no resource yet. */
export function importAs(name: string, id: string, provider?: string): string {
  const option =
    provider === undefined ? "" : ` --provider ${quote(`${logicalName(provider)}=${provider}`)}`;
  return `pulumi import ${instanceToken} ${quote(name)} ${quote(id)}${option}`;
}

/** The command that drops a resource from the state, and leaves the instance alone. */
export function stateDeleteCommand(urn: string): string {
  return `pulumi state delete ${quote(urn)}`;
}

/** A command of the plugin, as a person can type it on this machine. */
export function ownCommand(...words: readonly string[]): string {
  return [executablePath(), ...words].map(quote).join(" ");
}

/** The command that forgets a pending create. */
export function discardCommand(urn: string): string {
  return ownCommand("discard", urn);
}

/** The command that imports a plan into the stack it was made for. */
export function importPlanCommand(file: string, stack: string | undefined): string {
  const into = stack === undefined ? "" : ` --stack ${quote(stack)}`;
  return `pulumi import --file ${quote(file)}${into}`;
}

/** Quoted for a POSIX shell where it needs to be. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The advice for a listing that is not complete. */
export const nameCursor =
  "If the service has a cursor, name its parameter in compute:cursorParameter";
