/**
 * Addresses of an instance, computed from its number in the database: a row has the same addresses after a restart, and
 * no two rows share one.
 */

/** Reserved for documentation (RFC 5737): they reach nobody, and a person sees that they are not real. */
const documentationNets = ["198.51.100", "203.0.113", "192.0.2"] as const;
const hostsPerNet = 254;

/** The `ipv4_public` of the instance with this number, counted from 1. */
export function publicIpv4(number: number): string {
  const index = number - 1;
  const net = documentationNets[Math.floor(index / hostsPerNet)];
  if (net !== undefined) return `${net}.${(index % hostsPerNet) + 1}`;
  // Once those are used up: the shared address space 100.64.0.0/10 (RFC 6598).
  const rest = index - documentationNets.length * hostsPerNet + 1;
  return [100, 64 + ((rest >> 16) & 63), (rest >> 8) & 255, rest & 255].join(".");
}

/** The address on the private network. */
export function privateIpv4(number: number): string {
  const index = number - 1;
  const rest = Math.floor(index / hostsPerNet);
  return [10, (rest >> 8) & 255, rest & 255, (index % hostsPerNet) + 1].join(".");
}

/** The `mac_address`, in the range of KVM guests. */
export function macAddress(number: number): string {
  const octets = [0x52, 0x54, 0x00, (number >> 16) & 255, (number >> 8) & 255, number & 255];
  return octets.map((octet) => octet.toString(16).padStart(2, "0")).join(":");
}
