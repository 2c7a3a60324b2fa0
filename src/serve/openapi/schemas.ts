import * as z from "zod";

/** A JSON Schema, or another object of the document. */
export type JsonSchema = { readonly [key: string]: unknown };

/** The schemas of one document: those with a name stand once, under `components`. */
export class SchemaBook {
  readonly #names = z.registry<{ id: string }>();
  readonly #components: Record<string, unknown> = {};

  /** Gives schemas names. To be called before {@link SchemaBook.of}. */
  name(schemas: Readonly<Record<string, z.ZodType>>): void {
    for (const [id, schema] of Object.entries(schemas)) this.#names.add(schema, { id });
  }

  /** A schema as JSON, of the input, where fields with defaults are optional, or of the output. */
  of(schema: z.ZodType, io: "input" | "output"): JsonSchema {
    const { $schema: _dialect, $defs, ...json } = z.toJSONSchema(schema, {
      io,
      metadata: this.#names,
      unrepresentable: "any",
      // With a registry of our own, the library does not look for descriptions in its own one.
      override: ({ zodSchema, jsonSchema }) => {
        const { description, pattern } = z.globalRegistry.get(zodSchema) ?? {};
        if (description !== undefined) jsonSchema.description ??= description;
        // Some readers refuse texts by their own check; the document shows that as a pattern.
        if (typeof pattern === "string") jsonSchema.pattern ??= pattern;
      },
    });
    for (const [name, definition] of Object.entries($defs ?? {})) {
      this.#components[name] = referring(definition);
    }
    return referring(json) as JsonSchema;
  }

  /** The schemas of the fields of an object, and the names of those that must be there. */
  fields(schema: z.ZodType, io: "input" | "output"): {
    readonly fields: Readonly<Record<string, JsonSchema>>;
    readonly required: readonly string[];
  } {
    const { properties = {}, required = [] } = this.of(schema, io);
    return {
      fields: properties as Record<string, JsonSchema>,
      required: required as readonly string[],
    };
  }

  /** Everything that has been referred to so far, sorted by name. */
  schemas(): JsonSchema {
    return Object.fromEntries(Object.entries(this.#components).sort(([a], [b]) => a < b ? -1 : 1));
  }
}

/** Points references at the document's components, and drops ids, which repeat the names. */
function referring(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referring);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).filter(([key]) => key !== "id").map(([key, field]) => [
      key,
      key === "$ref" && typeof field === "string"
        ? field.replace(/^#\/\$defs\//, "#/components/schemas/")
        : referring(field),
    ]),
  );
}
