/** Files held against JSON schemas: against those that check-jsonschema brings, or one of ours. */
import { join } from "node:path";
import { captured } from "../support/command";
import { ensurePythonTools } from "../support/python";

/** Throws what is wrong. `schema` is as the command has it: `--builtin-schema NAME` or `--schemafile PATH`. */
export async function checkAgainst(
  schema: readonly string[],
  files: readonly string[],
): Promise<void> {
  const bin = await ensurePythonTools({
    title: "check-jsonschema",
    name: "schemas",
    requirements: "tools/schemas/requirements.txt",
    command: "check-jsonschema",
  });
  await captured(join(bin, "check-jsonschema"), [...schema, ...files]);
}
