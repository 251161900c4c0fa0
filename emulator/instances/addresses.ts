/** Computes addresses from `seq`, the number of a row, counted from 1. So no two instances share an address. */

/** Reserved for documentation (RFC 5737), so a person sees that the addresses are not real. */
const documentationNets = ["198.51.100", "203.0.113", "192.0.2"] as const;
const hostsPerNet = 254;

/** The `ipv4_public`. */
export function publicIpv4(seq: number): string {
  const index = seq - 1;
  const net = documentationNets[Math.floor(index / hostsPerNet)];
  if (net !== undefined) return `${net}.${(index % hostsPerNet) + 1}`;
  // When those are used up, the addresses are from the shared address space 100.64.0.0/10 (RFC 6598).
  const rest = index - documentationNets.length * hostsPerNet + 1;
  return [100, 64 + ((rest >> 16) & 63), (rest >> 8) & 255, rest & 255].join(".");
}

/** The address on the private network. */
export function privateIpv4(seq: number): string {
  const index = seq - 1;
  const rest = Math.floor(index / hostsPerNet);
  return [10, (rest >> 8) & 255, rest & 255, (index % hostsPerNet) + 1].join(".");
}

/** The `mac_address`, in the range of KVM guests. */
export function macAddress(seq: number): string {
  const octets = [0x52, 0x54, 0x00, (seq >> 16) & 255, (seq >> 8) & 255, seq & 255];
  return octets.map((octet) => octet.toString(16).padStart(2, "0")).join(":");
}
