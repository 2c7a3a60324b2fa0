import type { WebhookEvent } from "./event.ts";
import { malformed, textAt } from "./payload.ts";

/** Reads `{"source":"oci","artifact":"registry/name:tag","digest":"sha256:…"}`. Throws `bad_request`. */
export function readOciPayload(_name: string, payload: unknown): WebhookEvent {
  const artifact = textAt(payload, "artifact");
  const digest = textAt(payload, "digest");
  if (textAt(payload, "source") !== "oci") throw malformed('expected "source" to be "oci"');
  if (artifact === "") throw malformed('expected "artifact" to name what was pushed');
  if (digest !== "" && !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw malformed('expected "digest" to be sha256: and 64 hexadecimal digits');
  }
  return { kind: "artifact", artifact, digest };
}
