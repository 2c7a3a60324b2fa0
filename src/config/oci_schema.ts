import * as z from "zod";
import { field, flag, scalar, scalars } from "./schema_words.ts";

/** One item of `oci.keyless_identities`. */
export const keylessIdentity = z.strictObject({
  issuer: field(scalar(), "Trusted OIDC issuer."),
  subject: field(scalar(), "Exact trusted identity."),
  subject_regexp: field(scalar(), "Regular expression for trusted identities."),
});

/** The section `oci`. */
export const oci = z.strictObject({
  verify: field(flag(), "Verify signatures; cannot switch off what is on globally."),
  keyless_identities: field(
    z.array(keylessIdentity),
    "Trusted identities of signatures without a key, instead of the global ones.",
  ),
  public_keys: field(scalars(), "Public keys to verify with, instead of the global ones."),
  ignore_tlog: field(flag(), "Skip the transparency log."),
});
