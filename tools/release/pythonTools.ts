/** The tools that make a Python distribution and look it over. */
import { join } from "node:path";
import { ensurePythonTools } from "../support/python";

/** The Python that has them. */
export async function ensurePackingTools(): Promise<string> {
  const bin = await ensurePythonTools({
    title: "the Python packaging tools",
    name: "python",
    requirements: "tools/release/requirements.txt",
    command: "twine",
  });
  return join(bin, "python");
}
