/**
 * The addresses of an instance, computed from its `seq` in the database: an instance has the same addresses after a
 * restart, and no two instances share one. store.ts uses them.
 */

/**
 * Networks reserved for documentation (RFC 5737): nothing is reachable there, and a person sees that the addresses
 * are not real.
 */
const documentationNets = ["198.51.100", "203.0.113", "192.0.2"] as const;
const hostsPerNet = 254;

/** Returns the `ipv4_public` of the instance with this `seq`, which counts from 1. */
export function publicIpv4(number: number): string {
  const index = number - 1;
  const net = documentationNets[Math.floor(index / hostsPerNet)];
  if (net !== undefined) return `${net}.${(index % hostsPerNet) + 1}`;
  // When those are used up, the addresses are from the shared address space 100.64.0.0/10 (RFC 6598).
  const rest = index - documentationNets.length * hostsPerNet + 1;
  return [100, 64 + ((rest >> 16) & 63), (rest >> 8) & 255, rest & 255].join(".");
}

/** Returns the address on the private network. */
export function privateIpv4(number: number): string {
  const index = number - 1;
  const rest = Math.floor(index / hostsPerNet);
  return [10, (rest >> 8) & 255, rest & 255, (index % hostsPerNet) + 1].join(".");
}

/** Returns the `mac_address`, in the range of KVM guests. */
export function macAddress(number: number): string {
  const octets = [0x52, 0x54, 0x00, (number >> 16) & 255, (number >> 8) & 255, number & 255];
  return octets.map((octet) => octet.toString(16).padStart(2, "0")).join(":");
}
