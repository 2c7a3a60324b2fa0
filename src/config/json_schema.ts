import * as z from "zod";
import { deploymentSchema } from "./deployment_schema.ts";

/** A JSON Schema, or a part of one. */
export type JsonSchema = { [key: string]: unknown };

const EXAMPLES = [
  { name: "web" },
  {
    name: "shop",
    reference: "main",
    working_dir: "deploy/shop",
    compose_files: ["compose.yaml", "compose.prod.yaml"],
    environment: { LOG_LEVEL: "debug" },
    timeout: "5m",
    retry: { limit: 3, delay: "1m" },
    reconciliation: { events: ["unhealthy", "die"], restart_limit: 3 },
  },
  { auto_discovery: { enabled: true, depth: 2, delete: true }, prune_images: false },
  { name: "old-app", destroy: true },
];

/**
 * The JSON Schema (draft-07) of a deployment configuration, made from the schema of the decoder.
 * `version` is the release (`1.2.3`, also with `v` or suffixes) for `x-service-version`.
 *
 * Rules on several fields, a repository or the engine are not in it: they are checked at use.
 */
export function deploymentJsonSchema(version: string): JsonSchema {
  const { $schema, ...body } = published(deploymentSchema);
  return {
    $schema,
    title: "Stackwright deployment configuration",
    description: "One deployment; a file may hold several, as YAML documents.",
    "x-service-version": releaseOf(version),
    ...body,
    ...ARTIFACT_VERSION,
    examples: EXAMPLES,
  };
}

/** Any schema of this directory as JSON Schema draft-07, for the documents of the API. */
export function published(schema: z.ZodType): JsonSchema {
  const made = z.toJSONSchema(schema, {
    target: "draft-07",
    io: "input",
    // The library omits the defaults of transformed values; ours are given as they are written.
    override: ({ zodSchema, jsonSchema }) => {
      const fallback = z.globalRegistry.get(zodSchema)?.["default"];
      if (fallback !== undefined) jsonSchema.default = fallback;
    },
  });
  return tidy(made) as JsonSchema;
}

/** With source `oci` only the version `service.v1`, or none, is allowed. */
const ARTIFACT_VERSION = {
  if: {
    properties: { source: { type: "string", pattern: "^\\s*[Oo][Cc][Ii]\\s*$" } },
    required: ["source"],
  },
  then: {
    properties: {
      version: {
        anyOf: [{ type: "string", pattern: "^\\s*(?:service\\.v1)?\\s*$" }, { type: "null" }],
      },
    },
  },
};

function releaseOf(version: string): string {
  const [, numbers] = /^v?(\d+\.\d+\.\d+)/.exec(version.trim()) ?? [];
  return `v${numbers ?? "0.0.0"}`;
}

/** Removes needless keywords of the library, and makes unions pass ajv's strict mode. */
function tidy(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(tidy);
  if (typeof node !== "object" || node === null) return node;
  const result: JsonSchema = {};
  for (const [key, value] of Object.entries(node)) {
    if (isNoise(key, value)) continue;
    result[key] = key === "default" || key === "enum" ? value : tidy(value);
  }
  return splitTypes(flattenUnion(result));
}

function isNoise(key: string, value: unknown): boolean {
  if (key === "propertyNames") return true;
  return (key === "maximum" || key === "minimum") && Math.abs(Number(value)) >= 2 ** 53 - 1;
}

function flattenUnion(schema: JsonSchema): JsonSchema {
  if (!Array.isArray(schema["anyOf"])) return schema;
  const options = (schema["anyOf"] as JsonSchema[]).flatMap((option) =>
    Array.isArray(option["anyOf"]) && Object.keys(option).length === 1
      ? option["anyOf"] as JsonSchema[]
      : [option]
  );
  return { ...schema, anyOf: options };
}

/** `type: [a, b]` means the same as `anyOf`, which every validator's strict mode takes. */
function splitTypes(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  if (!Array.isArray(type)) return schema;
  return { ...rest, anyOf: type.map((name) => ({ type: name })) };
}
