/** What an Instance is: the Pulumi schema, the checks, the diff and the docs come from this definition. */
import * as z from "zod";
import type { CreateBody } from "../api/contract";

/** What is known of an input besides its type. */
export interface InputTraits {
  description: string;
  /**
   * When two values are the same. "exact": equal values. "set": equal members in any order. "bytes": equal
   * bytes once decoded, where the line endings of text do not count.
   */
  comparison: "exact" | "set" | "bytes";
  /** Encrypted in the state, never printed. */
  secret?: true;
}

const traits = z.registry<InputTraits>();

function input<T extends z.ZodType>(type: T, about: InputTraits): T {
  traits.add(type, about);
  return type;
}

/** A new one each time: the registry tells inputs apart by their type. */
const text = () => z.string().min(1, { error: "must not be empty" });

/** Whitespace is allowed: the `base64` command wraps its lines. */
const base64 = z
  .string()
  .refine((value) => isBase64(value), { error: "must be Base64 (RFC 4648, standard alphabet)" });

function isBase64(value: string): boolean {
  const compact = value.replace(/\s/g, "");
  return compact.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(compact);
}

export const instanceDescription =
  "A KVM virtual server, created from an image and a flavor and attached to a VPC. " +
  "Instances are billed hourly (not with a test token). The service has no update call, so a " +
  "change to any input replaces the instance; it documents no destroy call either, so see " +
  "`compute:deletePolicy` for what a delete does.";

/** "POST /v2/instances". No input can be changed in place. */
export const inputTypes = {
  name: input(text().optional(), {
    description:
      "Hostname of the server. Left out, a name is made from the resource's name and eight characters " +
      "(four that mark this resource of this stack, four random ones), or as `pulumi:autonaming` says.",
    comparison: "exact",
  }),
  flavorId: input(text(), {
    description: "Identifier of the hardware template, which defines CPU, RAM and NVMe storage.",
    comparison: "exact",
  }),
  imageId: input(text(), {
    description: "Identifier of the base operating system image.",
    comparison: "exact",
  }),
  vpcId: input(text(), {
    description: "Identifier of the private network (VPC) the instance is attached to.",
    comparison: "exact",
  }),
  sshKeys: input(z.array(text()).optional(), {
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
 * What is known of an input besides its type.
 *
 * @throws Error for an input without such a description: a defect of this file.
 */
export function traitsOf(name: InputName): InputTraits {
  const found = traits.get(inputTypes[name]);
  if (!found) throw new Error(`no traits for ${name}`);
  return found;
}

/** Whether a program must give the input. */
export function isRequired(name: InputName): boolean {
  return !inputTypes[name].safeParse(undefined).success;
}

const instanceArgs = z.object({ ...inputTypes, name: text() });
/** The inputs as Create gets them: all known, with the name that Check filled in. */
export type InstanceArgs = z.infer<typeof instanceArgs>;

/** @throws ZodError for anything but the inputs of a Create. */
export function parseInstanceArgs(value: unknown): InstanceArgs {
  return instanceArgs.parse(value);
}

/** An output that is no input. */
export interface Output {
  description: string;
  /** Left out: text. */
  type?: "networks";
  /** Whether every instance has it. */
  always?: true;
}

/** What the service adds ("Resources and their fields"). `state.ts` maps it from the answers. */
export const outputs: Readonly<Record<string, Output>> = {
  status: {
    description:
      "`ACTIVE`, `OFFLINE` or `PROVISIONING`, as last seen; the service may have further statuses.",
    always: true,
  },
  ipv4: { description: "Public IPv4 address. Absent when no listing could show the instance." },
  networks: {
    description:
      "The networks the instance is attached to. Known from the moment of creation only: empty for an imported instance.",
    type: "networks",
    always: true,
  },
  privateIpv4: { description: "IPv4 address on the first network of type `private`." },
  createdAt: {
    description: "When the instance was created (ISO 8601, UTC). Absent for an imported instance.",
  },
  tokenKind: {
    description:
      "`live` (billed) or `test` (sandbox, ephemeral): the kind of token it was made or last seen with.",
    always: true,
  },
};

export const networkDescriptions = {
  type: "Kind of network, for example `private`.",
  ipv4: "IPv4 address on that network.",
  macAddress: "Hardware address, colon-separated hexadecimal, where the service gives one.",
} as const;

/** The bytes of the cloud-init script, from the one of the two inputs that is given. */
export function userDataBytes(args: {
  userData?: string | undefined;
  userDataBase64?: string | undefined;
}): Buffer | undefined {
  if (args.userData !== undefined) return Buffer.from(args.userData, "utf8");
  if (args.userDataBase64 !== undefined) return Buffer.from(args.userDataBase64, "base64");
  return undefined;
}

/** The body of the POST ("POST /v2/instances"). */
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
