import * as z from "zod";
import { field, flag, whole } from "./schema_words.ts";

const RETENTION = "revisions kept per resource besides the active one; -1 keeps all. Unset, the " +
  "global setting applies.";

/** The section `swarm`. */
export const swarm = z.strictObject({
  enabled: field(
    flag(),
    "Selects swarm mode, or refuses it; unset, the container context decides.",
  ),
  config_retention: field(whole(-1), `Old swarm config ${RETENTION}`),
  secret_retention: field(whole(-1), `Old swarm secret ${RETENTION}`),
});
