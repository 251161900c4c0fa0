/** Files held against JSON schemas: against those that check-jsonschema brings, or one of ours. */
import { join } from "node:path";
import { captured } from "./command";
import { ensurePythonTools } from "./python";

/** Throws what is wrong. `schema` is as the command has it: `--builtin-schema NAME` or `--schemafile PATH`. */
export async function checkAgainst(
  schema: readonly string[],
  files: readonly string[],
): Promise<void> {
  const bin = await ensurePythonTools("schemas");
  await captured(join(bin, "check-jsonschema"), [...schema, ...files]);
}
