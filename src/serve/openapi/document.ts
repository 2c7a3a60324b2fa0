import { TAGS } from "../../api/mod.ts";
import type { JsonSchema, SchemaBook } from "./schemas.ts";

const OPENAPI_VERSION = "3.2.0";
/** Media type of the documents. */
export const OPENAPI_MEDIA_TYPE = "application/vnd.oai.openapi+json";

/** One operation as a document has it. */
export interface DocumentedOperation {
  readonly path: string;
  readonly method: "get" | "post" | "delete";
  readonly tag: string;
  /** An operation object without its tag. */
  readonly operation: { readonly operationId: string } & JsonSchema;
}

interface DocumentParts {
  readonly title: string;
  readonly description: string;
  /** Version of the program. */
  readonly version: string;
  /** The other document. */
  readonly seeAlso: { readonly description: string; readonly url: string };
  readonly securitySchemes: JsonSchema;
  readonly operations: readonly DocumentedOperation[];
  /** Where the operations put the schemas they share. */
  readonly book: SchemaBook;
}

/** An OpenAPI document, ready to be printed. */
export type OpenApiDocument = JsonSchema;

const METHODS =
  "A path answers methods that it does not have with 405, and `Allow` names the others.";

/** Puts a document together. Throws when two operations have one id, which is a mistake of ours. */
export function openApiDocument(parts: DocumentParts): OpenApiDocument {
  const { title, description, version, seeAlso, securitySchemes, operations, book } = parts;
  requireUniqueIds(operations);
  const tags = TAGS.filter((name) => operations.some(({ tag }) => tag === name));
  return {
    openapi: OPENAPI_VERSION,
    info: {
      title,
      description: `${description}\n\n${METHODS}`,
      version,
      license: { name: "MIT", identifier: "MIT" },
    },
    externalDocs: seeAlso,
    servers: [{ url: "/" }],
    tags: tags.map((name) => ({ name })),
    paths: pathsOf(operations),
    components: { schemas: book.schemas(), securitySchemes },
  };
}

function pathsOf(operations: readonly DocumentedOperation[]): JsonSchema {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { path, method, tag, operation } of operations) {
    (paths[path] ??= {})[method] = { tags: [tag], ...operation };
  }
  return paths;
}

function requireUniqueIds(operations: readonly DocumentedOperation[]): void {
  const ids = operations.map(({ operation }) => operation.operationId);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new Error(`BUG: two operations are called ${twice}`);
}
