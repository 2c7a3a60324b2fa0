import * as z from "zod";
import { field, freeMap, needed, scalar } from "./schema_words.ts";

/** A reference to a store of the webhook provider. */
export const secretStore = z.strictObject({
  store_ref: needed(
    z.string({ error: "expected the name of a secret store" })
      .min(1, { error: "expected the name of a secret store, found an empty text" }),
    "Name of a webhook secret store.",
  ),
  remote_ref: field(freeMap(), "Values for the templates of the store."),
});

/** One secret reference: text for the provider, or a store with fields. */
export const secretReferenceSchema = z
  .union([scalar(), secretStore], { error: "expected a secret reference: text or a mapping" })
  .nullable();
