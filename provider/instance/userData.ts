/**
 * What the state holds of user data (`compute:userDataInState`): the text, as a secret, or a salted hash in its place. With
 * the hash, only this process has the text, from a Check until the Diff or the Create that follows it. If the create has made
 * nothing, or its instance is gone, the text stays until the process ends, because an error hook may repeat the Create.
 */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { OperationFailed, type Report } from "../errors";
import {
  propertyMap,
  reveal,
  Secret,
  type PropertyMap,
  type PropertyValue,
} from "../pulumi/propertyValue";
import type { CheckRequest } from "../pulumi/calls";
import type { Engine } from "../engine";
import type { Session } from "../session/session";
import { unpackedScript, unusableIn } from "../userData/cloudInit";
import { scriptInputs, userDataBytes, type ScriptInput } from "./definition";

/** The user data in some inputs: as the program gives it, or as the hash that a state holds in its place. */
export type UserData =
  | { form: "text"; input: ScriptInput; text: string; bytes: Buffer }
  | { form: "hash"; input: ScriptInput; hash: string };

const saltBytes = 16;
/** A text like this always counts as a hash: cloud-init would ignore it anyway. */
const hashPattern = new RegExp(`^sha256:([0-9a-f]{${2 * saltBytes}}):[0-9a-f]{64}$`);

/** Whether the value is a hash that stands for user data. */
export function isUserDataHash(value: PropertyValue): value is string {
  return typeof value === "string" && hashPattern.test(value);
}

/** Returns the user data in these inputs. Undefined if it is empty, or not known yet. */
export function readUserData(inputs: PropertyMap): UserData | undefined {
  for (const input of scriptInputs) {
    const value = reveal(inputs[input] ?? null);
    if (typeof value !== "string") continue;
    if (isUserDataHash(value)) return { form: "hash", input, hash: value };
    const bytes = userDataBytes({ [input]: value });
    if (bytes?.length) return { form: "text", input, text: value, bytes };
  }
  return undefined;
}

/** Whether the inputs have the same user data, in whatever form (`unpackedScript`). */
export function isSameUserData(inputs: PropertyMap, others: PropertyMap): boolean {
  const one = readUserData(inputs);
  const other = readUserData(others);
  if (!one || !other) return one === other;
  const hashed = [one, other].find(({ form }) => form === "hash");
  const salt = hashed?.form === "hash" ? saltOf(hashed.hash) : Buffer.alloc(saltBytes);
  return hashWith(salt, one) === hashWith(salt, other);
}

/** How many problems of user data a warning has, at most. */
const maxProblems = 3;

/**
 * Returns a warning if cloud-init can't use the user data in the checked inputs. The user data of the existing instance is not
 * judged, because only a replacement could change it, nor is user data that is unknown, or of which there is only a hash.
 */
export async function userDataWarning(
  checked: PropertyMap,
  olds: PropertyMap,
): Promise<Report | undefined> {
  const userData = readUserData(checked);
  if (userData?.form !== "text" || isSameUserData(olds, checked)) return undefined;
  const problems = (await unusableIn(userData.bytes)).slice(0, maxProblems);
  if (problems.length === 0) return undefined;
  const [first = "", ...others] = problems.map(
    ({ partly }) => `cloud-init would ignore ${partly ? "a part of " : ""}${userData.input}`,
  );
  const lines = problems.flatMap(({ why, remedy }, n) => [
    `${others[n - 1] ?? ""}: ${why}.`,
    remedy,
  ]);
  const another = "Ignore this warning if the image reads its user data with another program.";
  return { own: first, shared: [...lines.slice(0, -1), `${lines.at(-1)} ${another}`] };
}

function saltOf(hash: string): Buffer {
  return Buffer.from(hashPattern.exec(hash)?.[1] ?? "", "hex");
}

function hashWith(salt: Buffer, userData: UserData): string {
  if (userData.form === "hash") return userData.hash;
  const digest = createHash("sha256").update(salt).update(unpackedScript(userData.bytes));
  return `sha256:${salt.toString("hex")}:${digest.digest("hex")}`;
}

/**
 * Returns the checked inputs as the state is to hold them. If they get a hash, `Engine.texts` has the text for the Create.
 * The salt is the old one as long as the text is the same.
 */
export function inputsForState(
  { settings, engine, ctx }: Session,
  { urn, olds, randomSeed }: CheckRequest,
  checked: PropertyMap,
): PropertyMap {
  const userData = readUserData(checked);
  if (settings.userDataInState !== "hash" || userData?.form !== "text") return checked;
  const before = readUserData(olds);
  const isSame = before?.form === "hash" && isSameUserData(olds, checked);
  const hash = isSame ? before.hash : hashWith(newSalt(urn, randomSeed), userData);
  const { input, text } = userData;
  // The second Check of a replacement has no old inputs, so it makes another salt.
  for (const [known, { urn: of }] of engine.texts)
    if (of === urn || known === hash) forget(engine.texts, known);
  engine.texts.set(hash, { urn, text, hidden: ctx.redactor.hide(text) });
  return propertyMap({ ...checked, [input]: new Secret(hash) });
}

/**
 * Returns a salt. It depends only on the URN and the engine's seed, because `pulumi up --plan` accepts only the hash that the
 * preview had, and gives the same seed again. An engine that gives no seed gets a random salt.
 */
function newSalt(urn: string, randomSeed: Uint8Array): Buffer {
  if (randomSeed.length === 0) return randomBytes(saltBytes);
  const digest = createHmac("sha256", randomSeed).update(`user data of ${urn}`).digest();
  return digest.subarray(0, saltBytes);
}

/** Whether the inputs have only the hash of their user data, and this process does not have the text. */
export function lacksText({ texts }: Engine, inputs: PropertyMap): boolean {
  const userData = readUserData(inputs);
  return userData?.form === "hash" && !texts.has(userData.hash);
}

/**
 * Returns the inputs as the service gets them: with the text in place of its hash.
 *
 * @throws OperationFailed if this process does not have the text
 */
export function inputsForService({ texts }: Engine, inputs: PropertyMap): PropertyMap {
  const userData = readUserData(inputs);
  if (userData?.form !== "hash") return inputs;
  const found = texts.get(userData.hash);
  if (!found) throw new OperationFailed(textMissing);
  return propertyMap({ ...inputs, [userData.input]: new Secret(found.text) });
}

const textMissing =
  'nothing was created: with compute:userDataInState "hash", only the process that has checked the inputs has the user data, and this is another one. Set compute:userDataInState to "secret"';

/** Removes the text of these inputs from `Engine.texts`. */
export function forgetText({ texts }: Engine, inputs: PropertyMap): void {
  const userData = readUserData(inputs);
  if (userData?.form === "hash") forget(texts, userData.hash);
}

function forget(texts: Engine["texts"], hash: string): void {
  texts.get(hash)?.hidden[Symbol.dispose]();
  texts.delete(hash);
}
