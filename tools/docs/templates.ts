/** The templates for `pulumi new`, and what they ask. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { root } from "../support/paths";

/** The templates by the language of their programs. */
export const templates = {
  TypeScript: "compute-typescript",
  Python: "compute-python",
  Go: "compute-go",
  Java: "compute-java",
  YAML: "compute-yaml",
} as const;

export const pathOf = (template: string) => join(root, "templates", template);

/** A question that `pulumi new` asks. Without a default, the person has to type an answer. */
export interface Question {
  description: string;
  default?: string;
  secret?: boolean;
}

/** Returns the questions of a template by the name of the setting. */
export function questionsOf(template: string): Record<string, Question> {
  const project = readFileSync(join(pathOf(template), "Pulumi.yaml"), "utf8");
  return (load(project) as { template: { config: Record<string, Question> } }).template.config;
}
