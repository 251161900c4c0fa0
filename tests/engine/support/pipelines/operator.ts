/**
 * The objects of the Pulumi Kubernetes Operator, as far as ours use them: by hand from its Go types
 * (operator/api at v2), since neither they nor its CRDs are in a registry that we use. Unknown fields are
 * refused, which Kubernetes would drop in silence.
 */
import * as z from "zod";

const text = z.string().min(1);

const literal = z.strictObject({
  type: z.literal("Literal"),
  literal: z.strictObject({ value: text }),
});
const secret = z.strictObject({
  type: z.literal("Secret"),
  secret: z.strictObject({ name: text, key: text }),
});

const workspaceSpec = z.strictObject({
  serviceAccountName: text.optional(),
  securityProfile: z.enum(["baseline", "restricted"]).optional(),
  image: text.optional(),
  git: z.strictObject({ url: text, ref: text, shallow: z.boolean().optional() }).optional(),
  env: z
    .array(
      z.strictObject({
        name: text,
        value: z.string().optional(),
        valueFrom: z
          .strictObject({ secretKeyRef: z.strictObject({ name: text, key: text }) })
          .optional(),
      }),
    )
    .optional(),
  resources: z.strictObject({ limits: z.record(text, text) }).optional(),
  stacks: z.array(z.strictObject({ name: text })).optional(),
});

const stackSpec = z
  .strictObject({
    serviceAccountName: text,
    projectRepo: text.optional(),
    branch: text.optional(),
    shallow: z.boolean().optional(),
    repoDir: text.optional(),
    programRef: z.strictObject({ name: text }).optional(),
    backend: text,
    stack: text,
    config: z.record(text, z.string()).optional(),
    useLocalStackOnly: z.boolean().optional(),
    refresh: z.boolean().optional(),
    expectNoRefreshChanges: z.boolean().optional(),
    destroyOnFinalize: z.boolean(),
    retryOnUpdateConflict: z.literal(false).optional(),
    prerequisites: z.array(z.strictObject({ name: text })).optional(),
    envRefs: z.record(text, z.discriminatedUnion("type", [literal, secret])),
    workspaceTemplate: z.strictObject({ spec: workspaceSpec }),
  })
  .refine(
    ({ projectRepo, programRef }) => (projectRepo === undefined) !== (programRef === undefined),
    {
      error: "one source: a repository or a Program",
    },
  );

const resource = z.strictObject({
  type: text,
  properties: z.record(text, z.unknown()),
  options: z
    .strictObject({ customTimeouts: z.strictObject({ create: text }).optional() })
    .optional(),
});

const program = z.strictObject({
  resources: z.record(text, resource),
  outputs: z.record(text, z.unknown()).optional(),
});

const updateSpec = z.strictObject({
  workspaceName: text,
  stackName: text,
  type: z.enum(["preview", "up", "destroy", "refresh"]),
  refresh: z.boolean().optional(),
  expectNoChanges: z.boolean().optional(),
});

const metadata = z.strictObject({ name: text });
const v1 = { apiVersion: z.literal("pulumi.com/v1"), metadata };
const auto = { apiVersion: z.literal("auto.pulumi.com/v1alpha1"), metadata };

/** One object of the operator. */
export const operatorObject = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("Stack"), ...v1, spec: stackSpec }),
  z.strictObject({ kind: z.literal("Program"), ...v1, program }),
  z.strictObject({ kind: z.literal("Workspace"), ...auto, spec: workspaceSpec }),
  z.strictObject({
    kind: z.literal("Update"),
    ...auto,
    metadata: z.strictObject({ generateName: text }),
    spec: updateSpec,
  }),
]);

type Schema = Readonly<Record<string, unknown>>;

interface Crd {
  spec: { versions: readonly { name: string; schema: { openAPIV3Schema: Schema } }[] };
}

/** What a CRD says of its objects of a version, with fields refused that it does not know. */
export function schemaOf({ spec }: Crd, apiVersion: string): Schema {
  const version = spec.versions.find(({ name }) => apiVersion.endsWith(`/${name}`));
  if (!version) throw new Error(`the CRD has no ${apiVersion}`);
  return strict(version.schema.openAPIV3Schema, true) as Schema;
}

function strict(value: unknown, isObject = false): unknown {
  if (Array.isArray(value)) return value.map((it) => strict(it));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, it]) => [key, strict(it)] as const);
  const closed = Object.fromEntries(entries);
  const isOpen = "additionalProperties" in value || "x-kubernetes-preserve-unknown-fields" in value;
  // `metadata` is open to all that Kubernetes has for it.
  if (!isObject && !("properties" in value && !isOpen)) return closed;
  return { ...closed, additionalProperties: false };
}
