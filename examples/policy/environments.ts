/** What each kind of environment may have. This is the file to make yours. */

export interface Limits {
  /** Whether its instances may be billed. */
  live: boolean;
  /** Whether Pulumi must refuse to delete or replace them. */
  protect: boolean;
  flavors: readonly string[];
  /** How many instances a stack may have. */
  instances: number;
}

const byStack: readonly { stacks: RegExp; limits: Limits }[] = [
  {
    stacks: /^prod$/,
    limits: { live: true, protect: true, flavors: ["standard-4", "standard-8"], instances: 20 },
  },
  {
    stacks: /^staging$/,
    limits: { live: true, protect: false, flavors: ["standard-4"], instances: 10 },
  },
  {
    stacks: /^dev$/,
    limits: { live: false, protect: false, flavors: ["standard-2", "standard-4"], instances: 10 },
  },
];

/** Review stacks, and those that nobody has thought of. */
const others: Limits = { live: false, protect: false, flavors: ["standard-2"], instances: 3 };

export function limitsOf(stack: string): Limits {
  return byStack.find(({ stacks }) => stacks.test(stack))?.limits ?? others;
}

/** Of a resource. */
export function stackOf(urn: string): string {
  return urn.split(":")[2] ?? "";
}
