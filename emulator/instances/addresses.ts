/**
 * Addresses of an instance, from its number in the database: the same row has the same ones after
 * any restart, and no two rows share one.
 */

/** For documentation (RFC 5737): they reach nobody, and a person sees that they are not real. */
const documentationNets = ["198.51.100", "203.0.113", "192.0.2"] as const;
const hostsPerNet = 254;

export function publicIpv4(number: number): string {
  const index = number - 1;
  const net = documentationNets[Math.floor(index / hostsPerNet)];
  if (net !== undefined) return `${net}.${(index % hostsPerNet) + 1}`;
  // Shared address space (RFC 6598), 100.64.0.0/10, once those are used up.
  const rest = index - documentationNets.length * hostsPerNet + 1;
  return [100, 64 + ((rest >> 16) & 63), (rest >> 8) & 255, rest & 255].join(".");
}

export function privateIpv4(number: number): string {
  const index = number - 1;
  const rest = Math.floor(index / hostsPerNet);
  return [10, (rest >> 8) & 255, rest & 255, (index % hostsPerNet) + 1].join(".");
}

/** In the range that KVM guests have. */
export function macAddress(number: number): string {
  const octets = [0x52, 0x54, 0x00, (number >> 16) & 255, (number >> 8) & 255, number & 255];
  return octets.map((octet) => octet.toString(16).padStart(2, "0")).join(":");
}
