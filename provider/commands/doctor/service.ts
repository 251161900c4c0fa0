/** What a visit to the service shows, in the words that `pulumi up` has for it. */
import { nextStep } from "../../advice";
import type { RequestError } from "../../api/errors";
import type { Settings } from "../../config/settings";
import { OperationFailed } from "../../errors";
import type { Surroundings } from "../../surroundings";
import { failed, type Finding, ofError, ok, serviceUnknown, unknown, warning } from "../finding";
import { clock, rateLimit } from "./heads";
import { listing, paging, statuses } from "./listing";
import { type Asked, type Listed, Visit } from "./visit";

export async function* examineService(
  settings: Settings,
  around: Surroundings,
): AsyncGenerator<Finding> {
  using visit = new Visit(settings, around);
  let account: Asked<string | undefined>;
  try {
    account = await visit.account();
  } catch (error) {
    // A proxy variable that is no address, say.
    if (!(error instanceof OperationFailed)) throw error;
    yield failed("connection", error.message, "Fix it, and run this again.");
    yield* serviceUnknown.filter(({ check }) => check !== "connection");
    return;
  }
  const refusal = "error" in account ? account.error : undefined;
  yield connection(visit, refusal);
  yield certificate(visit, refusal);
  yield accountFinding(visit, account);

  const listed = goesOn(refusal) ? await visit.listing() : undefined;
  yield scope(visit, refusal, listed);
  if (!listed) {
    for (const check of ["listing", "paging", "statuses"] as const) yield unknown(check);
  } else if ("error" in listed) {
    yield ofError("listing", listed.error);
    yield unknown("paging");
    yield unknown("statuses");
  } else {
    yield listing(listed.value);
    yield await paging(visit, listed.value);
    yield statuses(listed.value);
  }
  yield rateLimit(visit);
  yield clock(visit.heads);
}

/** `pulumi up` goes on without the account call, but not with a token that is refused. */
function goesOn(refusal: RequestError | undefined): boolean {
  if (!refusal) return true;
  return refusal.kind === "answered" && refusal.status !== 401 && !refusal.transient;
}

const noAnswer = (error: RequestError | undefined) =>
  error?.kind === "unreachable" || error?.kind === "unanswered";

function connection({ settings, failedTries }: Visit, refusal: RequestError | undefined): Finding {
  const { host } = new URL(settings.baseUrl);
  if (refusal && noAnswer(refusal)) {
    return refusal.lasting
      ? ok("connection", `${host} takes connections`)
      : ofError("connection", refusal);
  }
  const [first] = refusal ? [] : failedTries;
  return first
    ? warning(
        "connection",
        `${host} answers, but not at once: ${first.message}`,
        "`pulumi up` asks again by itself; where it stays like this, look at the network in between.",
      )
    : ok("connection", `${host} answers`);
}

/** Two weeks: what renews certificates by itself does so earlier. */
const soonDays = 14;

function certificate(
  { settings, certificate, heads }: Visit,
  refusal: RequestError | undefined,
): Finding {
  if (refusal?.lasting) return failed("certificate", refusal.message, nextStep(refusal));
  if (settings.baseUrl.startsWith("http:")) {
    return ok("certificate", "none: plain http, which stays on this machine");
  }
  if (!certificate) return unknown("certificate");
  const { validUntil, issuer } = certificate;
  const days = Math.floor((validUntil.getTime() - Date.now()) / 86_400_000);
  const found = `trusted, valid until ${validUntil.toISOString().slice(0, 10)}, by ${issuer}`;
  if (days >= soonDays || heads.length === 0) return ok("certificate", found);
  return warning("certificate", found, "It has to be renewed at the service within days.");
}

function accountFinding({ settings }: Visit, account: Asked<string | undefined>): Finding {
  if ("value" in account) {
    const whose = account.value === undefined ? "" : `, account ${account.value}`;
    return ok("account", `the service accepts the token${whose}`);
  }
  const { error } = account;
  if (noAnswer(error)) return unknown("account");
  if (error.status === 403) return ok("account", "the service knows the token");
  if (!goesOn(error) || !settings.validateCredentials) return ofError("account", error);
  return warning(
    "account",
    error.message,
    `${nextStep(error)} \`pulumi up\` goes on without the account call.`,
  );
}

/** "Names and list of scopes: not shown": what is allowed shows in what is answered. */
function scope(
  { settings }: Visit,
  account: RequestError | undefined,
  listed: Asked<Listed> | undefined,
): Finding {
  if (!listed) return unknown("scope");
  const refused = "error" in listed ? listed.error : undefined;
  if (refused?.status === 403) return failed("scope", refused.message, nextStep(refused));
  if (refused) return unknown("scope");
  if (account?.status === 403 && settings.validateCredentials) {
    return warning(
      "scope",
      `list is allowed, account is not: ${account.message}`,
      "Grant it; or, if the token is meant to be narrow, set compute:validateCredentials to false.",
    );
  }
  const allowed = account ? "list is allowed" : "account and list are allowed";
  return ok("scope", `${allowed}; create shows in the first create only`);
}
