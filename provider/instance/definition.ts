/**
 * The definition of an Instance: its inputs, its outputs, and the body of its POST. The Pulumi schema, the
 * checks, the diff and the docs are made from this definition.
 */
import * as z from "zod";
import type { CreateBody } from "../api/contract";

/** Properties of an input that its zod type does not have. */
export interface InputTraits {
  description: string;
  /**
   * When two values count as the same. "exact": the values are equal. "set": the members are equal, in any
   * order. "bytes": the decoded bytes are equal, if line endings in UTF-8 are ignored.
   */
  comparison: "exact" | "set" | "bytes";
  /** The value is encrypted in the state, and never printed ("secrets stay secret", G8). */
  secret?: true;
}

const traits = z.registry<InputTraits>();

function input<T extends z.ZodType>(type: T, inputTraits: InputTraits): T {
  traits.add(type, inputTraits);
  return type;
}

/** Returns a new type at each call, because the registry of traits tells inputs apart by their type object. */
const nonEmptyString = () => z.string().min(1, { error: "must not be empty" });

/** Whitespace is allowed, because the `base64` command wraps its lines. */
const base64 = z
  .string()
  .refine((value) => isBase64(value), { error: "must be Base64 (RFC 4648, standard alphabet)" });

function isBase64(value: string): boolean {
  const compact = value.replace(/\s/g, "");
  return compact.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(compact);
}

/** The description of an Instance in the schema and the docs. */
export const instanceDescription =
  "A KVM virtual server, created from an image and a flavor and attached to a VPC. " +
  "Instances are billed hourly (not with a test token). The service has no update call, so a " +
  "change to any input replaces the instance; it documents no destroy call either, so see " +
  "`compute:deletePolicy` for what a delete does.";

/**
 * The inputs, which are the fields of the request body (section "POST /v2/instances" of the service's API
 * document). No input can be changed in place.
 */
export const inputTypes = {
  name: input(nonEmptyString().optional(), {
    description:
      "Hostname of the server. By default, the provider generates it from the resource's name and eight characters: " +
      "four that identify this resource of this stack, and four random ones. The Pulumi setting `pulumi:autonaming` can change that.",
    comparison: "exact",
  }),
  flavorId: input(nonEmptyString(), {
    description: "Identifier of the hardware template, which defines CPU, RAM and NVMe storage.",
    comparison: "exact",
  }),
  imageId: input(nonEmptyString(), {
    description: "Identifier of the base operating system image.",
    comparison: "exact",
  }),
  vpcId: input(nonEmptyString(), {
    description: "Identifier of the private network (VPC) the instance is attached to.",
    comparison: "exact",
  }),
  sshKeys: input(z.array(nonEmptyString()).optional(), {
    description:
      "IDs or fingerprints of the public SSH keys to inject for the root user. Their order does not matter.",
    comparison: "set",
  }),
  userData: input(z.string().optional(), {
    description:
      "A cloud-init script as plain text, run on first boot. Give this or `userDataBase64`, not both.",
    comparison: "bytes",
    secret: true,
  }),
  userDataBase64: input(base64.optional(), {
    description:
      "A cloud-init script, Base64-encoded (for example gzipped), run on first boot. Give this or `userData`, not both.",
    comparison: "bytes",
    secret: true,
  }),
} as const;

/** The name of an input. */
export type InputName = keyof typeof inputTypes;
/** The names of all inputs. */
export const inputNames = Object.keys(inputTypes) as InputName[];

/**
 * Returns the traits of an input.
 *
 * @throws Error if the input has no traits, which is a defect of this file.
 */
export function traitsOf(name: InputName): InputTraits {
  const inputTraits = traits.get(inputTypes[name]);
  if (!inputTraits) throw new Error(`no traits for ${name}`);
  return inputTraits;
}

/** What the description of an output adds to that of its input, if the service's list does not show the value. */
export const unreadNote =
  "Null after `get`, and after an import until the program sets it, because the service does not show it.";

/** Whether the service's list shows the value of the input. */
export function isListed(name: InputName): boolean {
  return name === "name";
}

/** Whether a program must give the input. */
export function isRequired(name: InputName): boolean {
  return !inputTypes[name].safeParse(undefined).success;
}

const instanceArgs = z.object({ ...inputTypes, name: nonEmptyString() });
/** The inputs as Create receives them. All values are known, and Check has filled in the name. */
export type InstanceArgs = z.infer<typeof instanceArgs>;

/** Parses the inputs of a Create. @throws ZodError if they are wrong or incomplete. */
export function parseInstanceArgs(value: unknown): InstanceArgs {
  return instanceArgs.parse(value);
}

/** An output that is not an input. */
export interface Output {
  description: string;
  /** The type of the output. Undefined for a string. */
  type?: "networks";
  /** Set if every instance has the output. */
  always?: true;
}

/** The outputs that are no inputs (section "Resources and their fields"). `state.ts` makes them, mostly from responses. */
export const outputs: Readonly<Record<string, Output>> = {
  status: {
    description:
      "The status when last seen: `ACTIVE`, `OFFLINE` or `PROVISIONING`. The service may have further statuses.",
    always: true,
  },
  ipv4: { description: "Public IPv4 address. Null if no listing has shown it." },
  networks: {
    description:
      "The networks that the instance is attached to. Only the response to the create shows them, so the list is empty after an import or `get`.",
    type: "networks",
    always: true,
  },
  privateIpv4: {
    description:
      "IPv4 address on the first network of type `private`. Null without such a network, and after an import or `get`.",
  },
  createdAt: {
    description:
      "When the instance was created (ISO 8601, UTC). Only the response to the create shows it, so it is null after an import or `get`.",
  },
  tokenKind: {
    description:
      "The kind of token with which the instance was created or last seen: `live` (billed) or `test` (sandbox, ephemeral).",
    always: true,
  },
};

/** The descriptions of the fields of a network in the output `networks`. */
export const networkDescriptions = {
  type: "Kind of network, for example `private`.",
  ipv4: "IPv4 address on that network.",
  macAddress: "Hardware address, colon-separated hexadecimal, where the service gives one.",
} as const;

/** Returns the bytes of the cloud-init script, from the input that is set. Undefined if neither input is set. */
export function userDataBytes(args: {
  userData?: string | undefined;
  userDataBase64?: string | undefined;
}): Buffer | undefined {
  if (args.userData !== undefined) return Buffer.from(args.userData, "utf8");
  if (args.userDataBase64 !== undefined) return Buffer.from(args.userDataBase64, "base64");
  return undefined;
}

/** Returns the body of the POST (section "POST /v2/instances"). */
export function createBodyOf(args: InstanceArgs): CreateBody {
  const bytes = userDataBytes(args);
  return {
    name: args.name,
    flavor_id: args.flavorId,
    image_id: args.imageId,
    vpc_id: args.vpcId,
    ...(args.sshKeys?.length ? { ssh_keys: args.sshKeys } : {}),
    ...(bytes?.length ? { user_data: bytes.toString("base64") } : {}),
  };
}
