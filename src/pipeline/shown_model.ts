import { maskedModel } from "../deploy/mod.ts";
import type { Release } from "../model/mod.ts";
import type { PipelineParts } from "./parts.ts";
import { secretsIn } from "./resolve_secrets.ts";

/** The model of a release as text for people, without the values of its secrets. */
export function shownModel({ key, secrets }: PipelineParts, release: Release): string {
  const values = secretsIn(release.invocation);
  secrets.hide(values);
  return maskedModel(release.model, { digest: (text) => key.digest(text), secrets: values });
}
