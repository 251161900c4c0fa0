/**
 * The Diff call of an Instance. The service has no update call, so a change of what it got replaces the instance, unless the
 * state does not have the input because an import could not read it (G5). A replacement whose Delete would fail is refused (G4),
 * and so is one for which there is no user data.
 */
import { pageAt } from "../advice";
import { logicalName } from "../pulumi/urn";
import { OperationFailed, type Report } from "../errors";
import type { Verdict } from "../evidence/witness";
import {
  canonicalJson,
  hasSecret,
  hasUnknown,
  isList,
  reveal,
  type PropertyMap,
} from "../pulumi/propertyValue";
import type { DiffKind } from "../pulumi/names";
import type { DiffRequest, DiffResponse } from "../pulumi/calls";
import type { DiffOccasion } from "../engine";
import { timeouts } from "../session/operations";
import type { Session } from "../session/session";
import { idInputs, inputNames, isScript, isSent, scriptInputs, type InputName } from "./definition";
import { isBilled, askAbout, outOfReach } from "./existence";
import { heldBy, listedInputs, type Instance } from "./instance";
import { findingOf, noCall, refusal, waysToReplace, type Existing } from "./refusals";
import { forgetText, isSameUserData, lacksText, readUserData } from "./userData";

// ── The decision ─────────────────────────────────────────────────────────────────────────────────

/** What a Diff knows. */
export interface DiffFacts {
  readonly occasion: DiffOccasion;
  /** The most that the new inputs change. */
  readonly change: DiffChange;
  readonly deletePolicy: "fail" | "retain" | "destroy";
  /** Whether no stack has the instance (`pulumi do`). */
  readonly isStateless: boolean;
  /** Whether only the hash of the user data is known, from which no new instance can be made. */
  readonly isTextMissing: boolean;
  /** The report of an instance whose address or token kind is not the configured one. */
  readonly elsewhere?: Report | undefined;
  /** What the listings prove. Undefined before they were asked. */
  readonly verdict?: Verdict;
}

/**
 * What a change does: nothing; an Update of what only the state has, or of inputs that the program asserts; a replacement, or perhaps
 * one, since some input is not known yet.
 */
export type DiffChange = "none" | "recorded" | "asserted" | "perhapsReplaced" | "replaced";

/** What a Diff does next. A look refuses an instance of another account. */
export type DiffStep = { readonly kind: "look" } | DiffEnd;

/** How a Diff ends. */
type DiffEnd =
  | { readonly kind: "reply" | "warnPerhapsReplaced" | "refuseStateless" | "refuseWithoutText" }
  | { readonly kind: "warnElsewhere" | "refuseElsewhere"; readonly elsewhere: Report }
  | { readonly kind: "refuseReplacement"; readonly existing: Existing };

/**
 * Decides what a Diff does next. A replacement whose Delete would fail or may fail is refused before a second server is created and
 * before a dependent is deleted (G4).
 */
export function decideDiff(facts: DiffFacts): DiffStep {
  const { occasion, change, deletePolicy, elsewhere, verdict } = facts;
  if (facts.isStateless && change !== "none") return { kind: "refuseStateless" };
  // In a refresh nothing is replaced, and the engine itself refuses an import that would replace.
  if (occasion === "refresh" || occasion === "import") return { kind: "reply" };
  // A dependent is replaced because an input is unknown.
  if (change === "perhapsReplaced" && occasion === "program")
    return { kind: deletePolicy === "fail" ? "warnPerhapsReplaced" : "reply" };
  const isReplaced = change === "replaced" || change === "perhapsReplaced";
  if (isReplaced && facts.isTextMissing && occasion === "program")
    return { kind: "refuseWithoutText" };
  // An `up` without a change sends no request, so it would not notice. The Update of an asserted input would fail.
  const isSilent = change === "none" || change === "recorded";
  if (elsewhere) return { kind: isSilent ? "warnElsewhere" : "refuseElsewhere", elsewhere };
  if (!isReplaced || deletePolicy === "retain") return { kind: "reply" };
  if (!verdict) return { kind: "look" };
  if (deletePolicy === "destroy" || verdict.kind === "absent") return { kind: "reply" };
  return { kind: "refuseReplacement", existing: verdict };
}

// ── What is known, and what is done ──────────────────────────────────────────────────────────────

/**
 * Compares old and new inputs, and does what `decideDiff` says.
 *
 * @throws OperationFailed for a replacement whose Delete would fail or may fail, or for which there is no user data, for any
 *   change without a stack, and for an input to record of an instance out of reach. RequestError if a request fails.
 *   Canceled or TimedOut if the operation ends first.
 */
export async function diffInstance(
  session: Session,
  request: DiffRequest,
  occasion: DiffOccasion,
): Promise<DiffResponse> {
  const { urn, news } = request;
  const { connection, engine, settings } = session;
  const instance = heldBy(request);
  const changed = changedInputs(instance, news);
  let facts: DiffFacts = {
    occasion,
    change: mostOf(changed, news),
    deletePolicy: settings.deletePolicy,
    isStateless: engine.kind === "stateless",
    isTextMissing: lacksText(engine, news),
    elsewhere: outOfReach(session, instance, connection.origin()),
  };
  let step = decideDiff(facts);
  while (step.kind === "look") {
    using operation = session.operations.begin(timeouts.look, request);
    facts = { ...facts, verdict: (await askAbout(session, instance, operation)).verdict };
    step = decideDiff(facts);
  }
  endDiff(session, instance, step, occasion);
  // The Check of a replacement keeps the text anew.
  forgetText(engine, news);
  return {
    detailed: changed.detailed,
    // A change of outputs alone is shown only if it is named.
    drift: occasion === "refresh" ? engine.resource(urn).drift : [],
    needsUpdate: changed.recorded.length > 0,
    // A Delete that may fail must come before the create, so that no second server is created (G4).
    deleteBeforeReplace: settings.deletePolicy === "fail",
  };
}

/**
 * Warns, or throws, as the end of a Diff says.
 *
 * @throws OperationFailed if the step refuses
 */
function endDiff(
  session: Session,
  instance: Instance,
  step: DiffEnd,
  occasion: DiffOccasion,
): void {
  const { id, urn } = instance;
  switch (step.kind) {
    case "reply":
      return;
    case "warnElsewhere":
      return session.notices.warnOfFinding({ ...step.elsewhere, own: "out of reach" }, urn);
    case "warnPerhapsReplaced":
      return session.notices.warnOfFinding(perhapsReplaced, urn);
    case "refuseElsewhere":
      throw new OperationFailed(step.elsewhere);
    case "refuseStateless":
      throw new OperationFailed(
        `instance ${id} exists and was not changed: the service has no call to change an instance, and no stack records what only the program knows. Create another one, or manage it in a stack, which replaces it`,
      );
    case "refuseWithoutText":
      throw new OperationFailed(
        `instance ${id} can't be replaced with the script that it has, which ignoreChanges asks for: the state holds only a hash of it (compute:userDataInState "hash"). For the script that the program gives, take userData and userDataBase64 out of ignoreChanges`,
      );
    case "refuseReplacement": {
      // The error is shown at the other resource.
      const dependent = ` (${logicalName(urn)}, which uses an output of a resource that is replaced)`;
      throw refusal({
        what: `instance ${id}${occasion === "dependent" ? dependent : ""} can't be replaced`,
        ...findingOf(step.existing, isBilled(session, instance), session),
        ways: waysToReplace(step.existing),
        page: "delete.md#a-replacement",
      });
    }
  }
}

const perhapsReplaced: Report = {
  own: "the instance is perhaps replaced, once all values are known",
  shared: [
    `. If it is, \`pulumi up\` refuses that for as long as it exists${noCall} (${pageAt("delete.md#a-replacement")})`,
  ],
};

// ── Which inputs changed ─────────────────────────────────────────────────────────────────────────

/** The inputs that changed. */
interface ChangedInputs {
  /**
   * How each input changed. A script of which only the form changes is left out: if a property is named here, the option
   * `replaceOnChanges` makes the engine replace the instance.
   */
  detailed: Partial<Record<InputName, DiffKind>>;
  /** Those whose change replaces the instance. */
  replaced: InputName[];
  /** Those that the state does not have (`isUnread`) and that the program now asserts. The instance stays. */
  asserted: InputName[];
  /**
   * Those of which only the state changes: inputs that the service does not get, a flavor that the instance has already, inputs
   * that have become secret, and the inputs of a script that the state has, too, but in the other input, or as text instead of a hash,
   * or the other way round (`compute:userDataInState`).
   */
  recorded: InputName[];
}

/** Compares the old and the new inputs. */
export function changedInputs(before: Instance, news: PropertyMap): ChangedInputs {
  const isSameScript =
    !scriptInputs.some((name) => hasUnknown(news[name])) && isSameUserData(before.inputs, news);
  const becomesSecret = (name: InputName) =>
    hasSecret(news[name]) && !hasSecret(before.outputs[name]);
  const script = readUserData(news);
  const isInOtherForm = [before.inputs, before.outputs]
    .map(readUserData)
    .some((held) => held && script && (held.form !== script.form || held.input !== script.input));
  const changed: ChangedInputs = { detailed: {}, replaced: [], asserted: [], recorded: [] };
  for (const name of inputNames) {
    const isSame = isSameScript && isScript(name);
    const kind = isSame ? undefined : changeOf(name, before, news);
    if (kind) {
      changed.detailed[name] = kind;
      const group = kind === "add" ? "asserted" : "replaced";
      changed[isInPlace(name, before, news) ? "recorded" : group].push(name);
    } else if (becomesSecret(name) || (isSame && isInOtherForm)) changed.recorded.push(name);
  }
  return changed;
}

/** Returns the most that the inputs change. */
function mostOf({ replaced, asserted, recorded }: ChangedInputs, news: PropertyMap): DiffChange {
  if (replaced.some((name) => isDecided(name, news))) return "replaced";
  if (replaced.length > 0) return "perhapsReplaced";
  if (asserted.length > 0) return "asserted";
  return recorded.length > 0 ? "recorded" : "none";
}

/** Whether all inputs are known that decide whether this one has changed. */
function isDecided(name: InputName, news: PropertyMap): boolean {
  const fallbacks: InputName[] = name === "flavorId" ? ["fallbackFlavorIds"] : [];
  const deciding = isScript(name) ? scriptInputs : [name, ...fallbacks];
  return !deciding.some((input) => hasUnknown(news[input]));
}

/** Returns how one input changed, or undefined if it did not change. */
function changeOf(name: InputName, held: Instance, news: PropertyMap): DiffKind | undefined {
  // After a failed Update, the inputs are older than the outputs.
  const before = comparable(name, isSent(name) ? held.inputs : held.outputs);
  const after = comparable(name, news);
  const suffix = isInPlace(name, held, news) ? "" : "-replace";
  if (before === undefined && after === undefined) return undefined;
  // A program that takes over what a listing shows changes nothing, for example after a rename at the service.
  const isListed = listedInputs.some((listed) => listed === name);
  const isKnown = !hasUnknown(news[name]);
  const isSame = (value: unknown) =>
    value !== undefined && canonicalJson(value) === canonicalJson(after);
  if (isListed && isKnown && isSame(comparable(name, held.outputs))) return undefined;
  if (before === undefined) return held.isUnread(name) ? "add" : `add${suffix}`;
  if (after === undefined) return `delete${suffix}`;
  if (!isKnown || !isSame(before)) return `update${suffix}`;
  // The inputs in an import file come into the inputs of the state, but not into its outputs.
  return held.isUnread(name) ? "add" : undefined;
}

/** Whether a change of the input only changes the state: the service does not get it, or the instance has the flavor already. */
function isInPlace(name: InputName, held: Instance, news: PropertyMap): boolean {
  return name === "flavorId" ? held.hasFlavorFor(news) : !isSent(name);
}

/**
 * Returns the value for a comparison: without its secrecy, ids without white space around them, the name in lower case, since a
 * service may write it in another, and SSH keys as a set, since their order does not matter. Undefined for null and an empty list,
 * which are not sent to the service.
 */
function comparable(name: InputName, inputs: PropertyMap): unknown {
  const value = reveal(inputs[name] ?? null);
  const plain = (part: unknown) => {
    if (typeof part !== "string") return part;
    return idInputs.includes(name) ? part.trim() : name === "name" ? part.toLowerCase() : part;
  };
  if (!isList(value)) return plain(value) ?? undefined;
  if (value.length === 0) return undefined;
  const items = value.map(plain);
  return name === "sshKeys" ? [...new Set(items)].sort() : items;
}
