/**
 * Computes addresses from `seq`, the number of a row, counted from 1. No two instances share an address, unless the
 * option `addresses` names a net that is too small.
 */

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

/** A net of IPv4 addresses. */
export interface Net {
  /** Its first address, as a number. */
  base: number;
  /** How many addresses it has. */
  size: number;
}

/** Parses a net in CIDR notation, such as 127.0.0.0/8. Returns undefined if it is none. */
export function parseNet(text: string): Net | undefined {
  const [, address = "", bits = ""] = /^(\d+(?:\.\d+){3})\/(\d{1,2})$/.exec(text) ?? [];
  const octets = address.split(".").map(Number);
  if (octets.length !== 4 || octets.some((octet) => octet > 255) || Number(bits) > 32)
    return undefined;
  const size = 2 ** (32 - Number(bits));
  const given = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  return { base: given - (given % size), size };
}

/** The `ipv4_public` in a net. The first and the last address are used only in a net without others. */
export function publicIpv4In({ base, size }: Net, seq: number): string {
  const first = size > 2 ? 1 : 0;
  const address = base + first + ((seq - 1) % (size - 2 * first));
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
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
