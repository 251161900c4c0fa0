/** The definition of an Instance. The Pulumi schema, the checks, the diff and the docs are made from it. */
import * as z from "zod";
import type { CreateBody } from "../api/contract";
import { outputTextProblem } from "../pulumi/outputText";
import { printable } from "../redaction";
import {
  anyText,
  identifier,
  nonEmptyText,
  notIdentifier,
  notList,
  notText,
  refused,
} from "../pulumi/textTypes";
import { unpackedScript } from "../userData/cloudInit";
import { sshKeyProblem } from "./sshKey";

/** The service's own limits on hostnames are not known, so only names that nobody can read are refused. */
const hostname = nonEmptyText
  .refine((value) => value.trim() !== "", { error: "must not be only white space", abort: true })
  .refine((value) => printable(value) === value && !value.includes("\t"), {
    error:
      "must not contain control characters, such as line breaks, or characters that change the direction of the text",
  });

/** White space is allowed, because the `base64` command wraps its lines. */
const base64 = z
  .string({ error: notText })
  .refine((value) => z.base64().safeParse(value.replace(/\s/g, "")).success, {
    error: "must be Base64 (RFC 4648, standard alphabet)",
    abort: true,
  })
  .superRefine(
    refused((value) => outputTextProblem(unpackedScript(Buffer.from(value, "base64")).toString())),
  );

/**
 * A script stands twice in the state. Twice a longer script would not fit into the error that keeps an instance which is not ready
 * (G1): the error is an HTTP/2 trailer of at most 16 MB, with the state twice and in Base64.
 */
const maxScriptBytes = 2_000_000;

function script<T extends z.ZodType<string>>(type: T) {
  const error = `must not have more than ${maxScriptBytes} bytes`;
  return type.refine((value) => Buffer.byteLength(value) <= maxScriptBytes, { error }).optional();
}

const sshKey = z
  .string({ error: notIdentifier })
  .superRefine(
    refused((key) => sshKeyProblem(key) ?? identifier.safeParse(key).error?.issues[0]?.message),
  );

const portProblem = { error: "must be a whole number from 1 to 65535" };
const tcpPort = z.int(portProblem).min(1, portProblem).max(65535, portProblem);

/** The inputs that are ids, or lists of ids. A number in place of an id is taken as its text. */
const idTypes = {
  flavorId: identifier,
  imageId: identifier,
  vpcId: identifier,
  sshKeys: z.array(sshKey, { error: notList }).optional(),
  fallbackFlavorIds: z.array(identifier, { error: notList }).optional(),
} as const;

/**
 * The inputs: the fields of the request body (section "POST /v2/instances" of the service's API document), and those that the
 * service does not get.
 */
export const inputTypes = {
  name: hostname.optional(),
  ...idTypes,
  userData: script(anyText),
  userDataBase64: script(base64),
  waitForPort: tcpPort.optional(),
} as const;

/** The name of an input. */
export type InputName = keyof typeof inputTypes;
/** The names of the inputs that are ids. */
export const idInputs = Object.keys(idTypes) as InputName[];
/** The names of all inputs. */
export const inputNames = Object.keys(inputTypes) as InputName[];

/**
 * The field of the request that carries each input. Undefined: the service does not get the input, so only the provider uses
 * it, and it changes in place.
 */
const requestFields = {
  name: "name",
  flavorId: "flavor_id",
  imageId: "image_id",
  vpcId: "vpc_id",
  sshKeys: "ssh_keys",
  userData: "user_data",
  userDataBase64: "user_data",
  waitForPort: undefined,
  fallbackFlavorIds: undefined,
} as const satisfies Record<InputName, keyof CreateBody | undefined>;

/** Whether the service gets the input in the POST. */
export function isSent(name: InputName): boolean {
  return requestFields[name] !== undefined;
}

const notSent = inputNames.filter((name) => !isSent(name));

/** The description of the resource in the schema and the docs. */
export const instanceDescription =
  "A KVM virtual server, created from an image and a flavor and attached to a VPC. " +
  "Instances are billed hourly (not with a test token). The service has no update call, so a " +
  `change to any input but ${notSent.map((name) => "`" + name + "`").join(" and ")} replaces the instance; it documents no destroy call either, so see ` +
  "`compute:deletePolicy` for what a delete does.";

/** The descriptions of the inputs in the schema and the docs. */
export const inputDescriptions: Readonly<Record<InputName, string>> = {
  name:
    "Hostname of the server. By default, the provider generates it from the resource's name and eight characters: " +
    "four that identify this resource of this stack, and four random ones. The Pulumi setting `pulumi:autonaming` can change that.",
  flavorId: "Identifier of the flavor: CPU, RAM and NVMe storage.",
  imageId: "Identifier of the base operating system image.",
  vpcId: "Identifier of the private network (VPC) the instance is attached to.",
  sshKeys:
    "IDs or fingerprints of the public SSH keys to inject for the root user. Their order does not matter.",
  userData: `A cloud-init script as plain text, run on first boot. At most ${maxScriptBytes} bytes. Give this or \`userDataBase64\`, not both.`,
  userDataBase64: `A cloud-init script, Base64-encoded (for example gzipped), run on first boot. At most ${maxScriptBytes} bytes. Give this or \`userData\`, not both.`,
  waitForPort:
    "A TCP port, such as 22, that has to answer before the create ends. Once the instance is `ACTIVE`, the machine that runs Pulumi connects to it " +
    "at its public address, or else at its private one. The service does not get this input.",
  fallbackFlavorIds:
    "Flavors to try, in this order, if the service refuses the create, for example because `flavorId` is sold out. `flavorIdUsed` says " +
    "which one it was.",
};

/** The inputs for the cloud-init script, of which a program may give one. */
export const scriptInputs = ["userData", "userDataBase64"] as const;
/** One of them. */
export type ScriptInput = (typeof scriptInputs)[number];

/** Whether the input is for the cloud-init script, which is encrypted in the state and never printed (G8). */
export function isScript(name: InputName): name is ScriptInput {
  return (scriptInputs as readonly InputName[]).includes(name);
}

/** Whether the input is a list. */
export function isListInput(name: InputName): boolean {
  return inputTypes[name].safeParse([]).success;
}

/** Whether a program must give the input. */
export function isRequired(name: InputName): boolean {
  return !inputTypes[name].safeParse(undefined).success;
}

const instanceArgs = z.object({ ...inputTypes, name: hostname });
/** The inputs as Create receives them. All values are known, and Check has filled in the name. */
export type InstanceArgs = z.infer<typeof instanceArgs>;

/** @throws ZodError if the inputs are wrong or incomplete */
export function parseInstanceArgs(value: unknown): InstanceArgs {
  return instanceArgs.parse(value);
}

/** An output that is not an input. */
export interface Output {
  description: string;
  /** Undefined for a string. */
  type?: "networks";
  /** Set if the output may be null. */
  optional?: true;
}

/** The outputs that are no inputs (section "Resources and their fields" of the service's API document). */
export const outputs: Readonly<Record<string, Output>> = {
  status: {
    description:
      "The status when last seen: `ACTIVE`, `OFFLINE` or `PROVISIONING`. The service may have further statuses.",
  },
  ipv4: { description: "Public IPv4 address." },
  networks: {
    description:
      "The networks that the instance is attached to. Only the response to the create shows them, so the list is empty after an import, " +
      "`get`, or a create whose answer was lost. A program should check the length.",
    type: "networks",
  },
  privateIpv4: {
    description:
      "IPv4 address on the first network of type `private`. Only the response to the create shows it, so it may be empty.",
  },
  createdAt: {
    description:
      "When the instance was created (ISO 8601, UTC). Only the response to the create shows it, so it is null after an import or `get`.",
    optional: true,
  },
  flavorIdUsed: {
    description:
      "The flavor with which the instance was created: `flavorId`, or one of `fallbackFlavorIds`. Null after an import or `get`.",
    optional: true,
  },
  tokenKind: {
    description:
      "The token kind with which the instance was created or last seen: `live` (billed) or `test` (sandbox, ephemeral).",
  },
};

/**
 * What an output is if the service has not shown it. A required output is empty, so that a program can pass it on as an
 * input of another resource, and an optional output is null. Of the optional inputs, only the name is here: null (of a script, no
 * output) says of the others that the instance was created without them.
 */
export const emptyOutputs: Readonly<Record<string, "" | readonly [] | null>> = {
  ...Object.fromEntries(["name", ...inputNames.filter(isRequired)].map((name) => [name, ""])),
  ...Object.fromEntries(
    Object.entries(outputs).map(([name, { type, optional }]) => {
      if (optional) return [name, null];
      return [name, type === "networks" ? [] : ""];
    }),
  ),
};

/** The outputs that are never null. */
export const requiredOutputs = Object.keys(emptyOutputs).filter(
  (name) => emptyOutputs[name] !== null,
);

/** The descriptions of the fields of a network in the output `networks`. */
export const networkDescriptions = {
  type: "Kind of network, for example `private`.",
  ipv4: "IPv4 address on that network.",
  macAddress: "Hardware address, colon-separated hexadecimal, where the service gives one.",
} as const;

/** The inputs for the cloud-init script: as text, or in base64. */
interface ScriptArgs {
  userData?: string | undefined;
  userDataBase64?: string | undefined;
}

/** Returns the decoded cloud-init script, or undefined if neither input is set. */
export function userDataBytes(args: ScriptArgs): Buffer | undefined {
  if (args.userData !== undefined) return Buffer.from(args.userData, "utf8");
  if (args.userDataBase64 !== undefined) return Buffer.from(args.userDataBase64, "base64");
  return undefined;
}

/** Returns the body of the POST (section "POST /v2/instances"). An empty list and an empty script are left out. */
export function createBodyOf(args: InstanceArgs): CreateBody {
  const script = userDataBytes(args)?.toString("base64") || undefined;
  const sent = inputNames.flatMap((name) => {
    const field = requestFields[name];
    const value = isScript(name) ? script : args[name];
    const isLeftOut = value === undefined || (Array.isArray(value) && value.length === 0);
    return field === undefined || isLeftOut ? [] : [[field, value]];
  });
  // The types of the inputs are those of the fields that carry them.
  return Object.fromEntries(sent) as CreateBody;
}
