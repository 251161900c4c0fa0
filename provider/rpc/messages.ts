/** What several handlers read from the requests or write into the replies. */
import * as pb from "@pulumi/pulumi/proto/provider_pb";
import type { PropertyMap } from "../pulumi/propertyValue";
import { diffKinds, instanceToken, replaceKinds, type DiffKind } from "../pulumi/names";
import type { CheckRequest, DiffRequest, DiffResponse } from "../pulumi/calls";
import { decodeProperties, encodeProperties } from "./properties";

/** The request is one that a correct engine does not send. The call fails with INVALID_ARGUMENT. */
export class InvalidMessage extends Error {
  override readonly name = "InvalidMessage";
}

/** Removes secrets from a text (`EngineLog.clean`). */
export type Clean = (text: string) => string;

/**
 * Returns the reply to a CheckConfig or a Check. No failure names a property, because the engine would print its value, and any
 * value may hold a secret by mistake, such as a private key among the SSH keys (G8).
 */
export function toCheckReply(
  inputs: PropertyMap,
  failures: readonly string[],
  clean: Clean,
): pb.CheckResponse {
  return (
    new pb.CheckResponse()
      // The engine accepts unknown inputs from Check outside a preview, too.
      .setInputs(encodeProperties(inputs, "preview"))
      .setFailuresList(failures.map((reason) => new pb.CheckFailure().setReason(clean(reason))))
  );
}

/** Returns what a Diff or an Update is about. */
export function readDiffRequest(request: pb.DiffRequest | pb.UpdateRequest): DiffRequest {
  return {
    urn: readUrn(request),
    id: request.getId(),
    oldInputs: decodeProperties(request.getOldInputs()),
    oldOutputs: decodeProperties(request.getOlds()),
    // The engine has already applied the option ignoreChanges.
    news: decodeProperties(request.getNews()),
  };
}

/** Returns the reply to a Diff. */
export function toDiffReply(response: DiffResponse): pb.DiffResponse {
  const { detailed, drift = [], needsUpdate = false, deleteBeforeReplace } = response;
  const reply = new pb.DiffResponse()
    .setDeletebeforereplace(deleteBeforeReplace)
    // Without a detailed diff, the engine shows every output as changed.
    .setHasdetaileddiff(true);
  const add = (name: string, kind: DiffKind, isInput: boolean) => {
    const diff = new pb.PropertyDiff().setKind(diffKinds.indexOf(kind)).setInputdiff(isInput);
    reply.getDetaileddiffMap().set(name, diff);
    reply.addDiffs(name);
    if (replaceKinds.has(kind)) reply.addReplaces(name);
  };
  for (const [name, kind] of Object.entries(detailed)) add(name, kind, true);
  for (const name of drift) add(name, "update", false);
  const { DIFF_NONE, DIFF_SOME } = pb.DiffResponse.DiffChanges;
  const isChanged = needsUpdate || reply.getDiffsList().length > 0;
  return reply.setChanges(isChanged ? DIFF_SOME : DIFF_NONE);
}

/** @throws InvalidMessage if the mode is not a known one */
export function readAutonaming(request: pb.CheckRequest): CheckRequest["autonaming"] {
  const autonaming = request.getAutonaming();
  if (!autonaming) return undefined;
  const mode = (["propose", "enforce", "disable"] as const)[autonaming.getMode()];
  if (mode === undefined) {
    throw new InvalidMessage(`autonaming mode ${autonaming.getMode()} is not known`);
  }
  return { proposedName: autonaming.getProposedName(), mode };
}

/** Returns the time-out in seconds: 0 if the program sets none, or one that is not a positive number. */
export function readTimeoutSeconds(request: { getTimeout(): number }): number {
  return Math.max(0, request.getTimeout() || 0);
}

/** @throws InvalidMessage if the call is not about an Instance */
export function readUrn(request: { getUrn(): string; getType(): string }): string {
  requireToken("resource", request.getType(), [instanceToken]);
  return request.getUrn();
}

/**
 * Returns the token.
 *
 * @throws InvalidMessage if it is not one of the known ones
 */
export function requireToken<T extends string>(
  what: "function" | "resource",
  token: string,
  known: readonly T[],
): T {
  const found = known.find((candidate) => candidate === token);
  if (found !== undefined) return found;
  const quoted = JSON.stringify(token);
  throw new InvalidMessage(`this provider has no ${what} ${quoted}; it has ${known.join(", ")}`);
}
