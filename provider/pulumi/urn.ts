/** What the URN of a resource says: `urn:pulumi:STACK::PROJECT::TYPES::NAME`. */

/** Returns the stack and the project, as the start of the URN. */
export function stackOf(urn: string): string {
  return urn.split("::", 2).join("::");
}

/** Returns the project and the stack, as a person knows them: `PROJECT/STACK`. */
export function stackName(urn: string): string {
  const [stack = "", project = ""] = urn.replace("urn:pulumi:", "").split("::");
  return `${project}/${stack}`;
}

/**
 * Whether the URN is of the stack that the CLI calls `name`: `ORGANIZATION/PROJECT/STACK`, or only `STACK` in an old backend
 * that has no projects.
 */
export function isOfStack(urn: string, name: string): boolean {
  const [stack = "", project] = name.split("/").reverse();
  const found = stackOf(urn);
  return project === undefined
    ? found.startsWith(`urn:pulumi:${stack}::`)
    : found === `urn:pulumi:${stack}::${project}`;
}

/** Returns the type of the resource, with those of its parents in front: `my:mod:Group$compute:index:Instance`. */
export function typesOf(urn: string): string {
  return urn.split("::")[2] ?? "";
}

/** Whether a component is the parent of the resource. */
export function hasParent(urn: string): boolean {
  return typesOf(urn).includes("$");
}

/** Returns the name that the program gave the resource: all that follows the types. */
export function logicalName(urn: string): string {
  return urn.split("::").slice(3).join("::") || urn;
}

/**
 * The name that the engine gives a default provider: `default`, and the version and download address that the SDK asks
 * for, if any (`default_0_1_0_https_/example.com/dl`).
 */
const defaultProvider =
  /^default(?:_\d+_\d+_\d+(?:_[\dA-Za-z-]+)*)?(?:_[A-Za-z][\w.-]*_\/[\w./-]+)?$/;

/**
 * Returns `urn` if the program makes this provider resource itself, and undefined for a default provider and for the
 * provider of `pulumi do --stateless`.
 */
export function explicitProvider(urn: string | undefined): string | undefined {
  if (urn === undefined || isStateless(urn)) return undefined;
  return hasParent(urn) || !defaultProvider.test(logicalName(urn)) ? urn : undefined;
}

/** Whether the provider resource is that of `pulumi do` without a stack, whose name is empty. */
export function isStateless(urn: string | undefined): boolean {
  return urn?.endsWith("::") === true;
}

/** Whether the URN is that of a Read by which a program asks whether an instance exists (`existsURNPrefix` in source_eval.go). */
export function isExistsQuestion(urn: string): boolean {
  return logicalName(urn).startsWith("__exists__");
}

/** Returns the URN and the id in a reference to a provider resource, as exported states have it: `URN::ID`. */
export function splitReference(reference: string): { urn: string; id: string } {
  const end = reference.lastIndexOf("::");
  return { urn: reference.slice(0, Math.max(0, end)), id: reference.slice(end + 2) };
}
