/** What a person can do next: the last sentence of every error (G9). */
import type { RequestError } from "./api/errors";
import { executablePath } from "./executable";
import { instanceToken } from "./tokens";

/** The error's own words, and the next step. */
export function explain(error: RequestError): string {
  return `${error.message}. ${nextStep(error)}`;
}

export function nextStep(error: RequestError): string {
  if (error.kind === "unsendable") {
    return "Nothing was sent. Remove the instance at the service (its portal), then run this again.";
  }
  if (error.kind === "unreachable") {
    return "Nothing was sent. Check compute:baseUrl, the network and the proxy settings, and run again.";
  }
  if (error.kind === "unanswered")
    return "Run again; a longer compute:requestTimeoutSeconds may help.";
  if (error.kind === "unreadable") {
    return "Check that compute:baseUrl is the address of the Compute Instances Service.";
  }
  if (error.status === 401) {
    return "The token is invalid, expired or revoked: give a valid one with `pulumi config set --secret compute:apiToken` or COMPUTE_API_TOKEN. `pulumi refresh` and `pulumi destroy` use what the last `pulumi up` recorded: add --run-program to them.";
  }
  if (error.status === 403) {
    return "The token lacks the scope for this call: grant it in the administration portal, or use another token.";
  }
  const { status = 0 } = error;
  if (status >= 500) {
    const report = error.service.requestId ? ", and give its operator the request_id" : "";
    return `The fault is at the service: run again later${report}.`;
  }
  return status < 400
    ? "Check that compute:baseUrl is the address of the Compute Instances Service."
    : "Correct what the message names, and run again.";
}

/** Where the provider goes on without the cursor it was told of. */
export function cursorIgnored(parameter: string | undefined, why: string): string {
  return `the service did not page by compute:cursorParameter "${parameter}" (${why}); instances are listed by status instead, 100 of each at the most`;
}

/** The name a program gave the resource: what follows the stack, project and type in its URN. */
export function logicalName(urn: string): string {
  return urn.split("::").slice(3).join("::") || urn;
}

/**
 * How the engine names a default provider: `default`, with the parts of the version that the SDK asks
 * for, if any, and with its download address, if any (`default_0_1_0_https_/example.com/dl`).
 */
const defaultProvider =
  /^default(?:_\d+_\d+_\d+(?:_[\dA-Za-z-]+)*)?(?:_[A-Za-z][\w.-]*_\/[\w./-]+)?$/;

/** The URN of the program's own provider; undefined for a default one, which the engine makes. */
export function explicitProvider(urn: string | undefined): string | undefined {
  if (urn === undefined) return undefined;
  const [, , type = "", ...name] = urn.split("::");
  // Without a name, it is that of `pulumi do --stateless`.
  if (name.join("::") === "") return undefined;
  const isDefault = !type.includes("$") && defaultProvider.test(name.join("::"));
  return isDefault ? undefined : urn;
}

/** For a resource of the program, by its URN and that of its own provider. */
export function importCommand(
  { urn, provider }: { urn: string; provider?: string | undefined },
  id: string,
): string {
  // The URN tells that a resource is a component's child, but not by which name Pulumi knows that.
  const isChild = urn.split("::")[2]?.includes("$") === true;
  return (
    importAs(logicalName(urn), id, provider) +
    (isChild ? " --parent '<name>=<urn of its component>'" : "")
  );
}

/** For an instance that no resource of the program stands for yet. */
export function importAs(name: string, id: string, provider?: string): string {
  const through =
    provider === undefined ? "" : ` --provider ${quote(`${logicalName(provider)}=${provider}`)}`;
  return `pulumi import ${instanceToken} ${quote(name)} ${quote(id)}${through}`;
}

export function stateDeleteCommand(urn: string): string {
  return `pulumi state delete ${quote(urn)}`;
}

/** Of the plugin, as it can be typed where it runs. */
export function ownCommand(...words: readonly string[]): string {
  return [executablePath(), ...words].map(quote).join(" ");
}

export function discardCommand(urn: string): string {
  return ownCommand("discard", urn);
}

/** `pulumi import` of a plan, into the stack it was made for. */
export function importPlanCommand(file: string, stack: string | undefined): string {
  const into = stack === undefined ? "" : ` --stack ${quote(stack)}`;
  return `pulumi import --file ${quote(file)}${into}`;
}

/** For a POSIX shell; what needs no quotes gets none. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** For a listing that is not complete. */
export const nameCursor =
  "If the service has a cursor, name its parameter in compute:cursorParameter";
