import { describedOperations } from "../api/mod.ts";
import { type Documents, openApiDocumentsOf } from "../serve/mod.ts";

/** The OpenAPI documents, without a running service; `version` is the program's. */
export function openApiDocuments(version: string): Documents {
  return openApiDocumentsOf(describedOperations(), version);
}
