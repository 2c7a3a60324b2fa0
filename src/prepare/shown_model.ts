import { externalSecretsIn, maskedModel, secretsOfRelease } from "../compose/mod.ts";
import type { Release } from "../model/mod.ts";
import { stackAsOwner } from "../system/mod.ts";
import type { PrepareParts } from "./parts.ts";

/** The model of a release as text for people, without the values of its secrets. */
export function shownModel(parts: PrepareParts, release: Release): string {
  hideSecrets(parts, release);
  return maskedModel(release.model, {
    digest: (text) => parts.key.digest(text),
    // The external ones also where they are too short to be looked for in other texts.
    secrets: [...externalSecretsIn(release.invocation), ...secretsOfRelease(release)],
  });
}

/** Makes the secrets of a release unprintable; to be called before anything of it can be shown. */
export function hideSecrets(
  { secrets }: Pick<PrepareParts, "secrets">,
  release: Pick<Release, "key" | "model" | "invocation">,
): void {
  secrets.hide(secretsOfRelease(release), stackAsOwner(release.key));
}
