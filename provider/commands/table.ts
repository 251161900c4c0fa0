/** The commands there are, each loaded only when it is run. A new one is one file and one line here. */
import type { Command } from "./command";

export interface Entry {
  name: string;
  /** For the list in `--help`. */
  help: string;
  load: () => Promise<Command>;
}

export const commands: readonly Entry[] = [
  {
    name: "doctor",
    help: "check settings, token, service and this machine; changes nothing",
    load: async () => (await import("./doctor.js")).doctor,
  },
  {
    name: "discard",
    help: "list the creates that a run left open, or forget one",
    load: async () => (await import("./discard.js")).discard,
  },
  {
    name: "audit",
    help: "compare what the service lists with all stacks of the backend; changes nothing",
    load: async () => (await import("./audit.js")).audit,
  },
  {
    name: "import-plan",
    help: "write the file for `pulumi import --file` from what the service lists",
    load: async () => (await import("./importPlan.js")).importPlan,
  },
];
