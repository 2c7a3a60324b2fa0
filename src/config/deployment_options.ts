import type {
  KeylessIdentity,
  OciOptions,
  RetryOptions,
  SecretReference,
  SwarmOptions,
} from "../model/mod.ts";
import type { WrittenDeployment } from "./deployment_schema.ts";
import type { Report } from "./problem_sink.ts";
import { seconds, texts } from "./written_values.ts";

/** `swarm`. */
export function swarmOptions(written: WrittenDeployment["swarm"]): SwarmOptions {
  return {
    enabled: written?.enabled ?? undefined,
    configRetention: written?.config_retention ?? undefined,
    secretRetention: written?.secret_retention ?? undefined,
  };
}

/** `retry`. */
export function retryOptions(written: WrittenDeployment["retry"], report: Report): RetryOptions {
  return {
    limit: written?.limit ?? undefined,
    delaySeconds: seconds(written?.delay ?? 0, 0, (why) => report("retry.delay", why)),
  };
}

/** `oci`. An identity has a subject or a pattern for it, not both. */
export function ociOptions(written: WrittenDeployment["oci"], report: Report): OciOptions {
  const identities = (written?.keyless_identities ?? []).map((item, index): KeylessIdentity => {
    const path = `oci.keyless_identities[${index}]`;
    const subject = item.subject ?? "";
    const subjectRegexp = item.subject_regexp ?? "";
    if (subject !== "" && subjectRegexp !== "") {
      report(path, 'give either "subject" or "subject_regexp", not both');
    }
    return { issuer: item.issuer ?? "", subject, subjectRegexp };
  });
  return {
    verify: written?.verify ?? undefined,
    keylessIdentities: identities,
    publicKeys: texts(written?.public_keys),
    ignoreTlog: written?.ignore_tlog ?? undefined,
  };
}

/** `external_secrets`: text for the provider, or a store with fields. */
export function secretReferences(
  written: WrittenDeployment["external_secrets"],
): Readonly<Record<string, SecretReference>> {
  const references: [string, SecretReference][] = [];
  for (const [name, value] of Object.entries(written ?? {})) {
    if (value === null) continue;
    references.push([
      name,
      typeof value === "string"
        ? { kind: "text", text: value }
        : { kind: "store", storeRef: value.store_ref, remoteRef: storeFields(value.remote_ref) },
    ]);
  }
  return Object.fromEntries(references);
}

/**
 * The fields of a reference to a store. Nested fields are named by their dotted path; the value that
 * contains them is also given as JSON text.
 */
function storeFields(
  written: Readonly<Record<string, unknown>> | null | undefined,
  above = "",
): Readonly<Record<string, string>> {
  const fields: [string, string][] = [];
  for (const [key, value] of Object.entries(written ?? {})) {
    const name = above + key;
    if (value === null || value === undefined) continue;
    fields.push([name, typeof value === "string" ? value : JSON.stringify(value)]);
    if (typeof value !== "object") continue;
    fields.push(...Object.entries(storeFields(value as Record<string, unknown>, `${name}.`)));
  }
  return Object.fromEntries(fields);
}
