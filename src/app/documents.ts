import { describedOperations } from "../api/mod.ts";
import { type Documents, openApiDocumentsOf } from "../serve/mod.ts";

/** The OpenAPI documents, without a service behind them; `version` is that of the program. */
export function openApiDocuments(version: string): Documents {
  return openApiDocumentsOf(describedOperations(), version);
}
