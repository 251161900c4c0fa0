/** Known vulnerabilities in what we ship and bring along, by the databases of npm and of Go. */
import { join } from "node:path";
import { ensureGoTool } from "../go/tools";
import { captured } from "../support/command";
import { say } from "../support/main";
import { root } from "../support/paths";

/** Throws what is known, or why it can't be asked. */
export async function audit(): Promise<void> {
  await captured("npm", ["audit", "--omit=dev"], { cwd: root });
  say("npm audit: nothing is known of the packages.");
  const module = join(root, "sdk", "go", "compute");
  await captured(await ensureGoTool("govulncheck"), ["./..."], { cwd: module });
  say("govulncheck: nothing is known that the Go SDK calls.");
}
