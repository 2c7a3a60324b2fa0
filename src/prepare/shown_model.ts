import { externalSecretsIn, maskedModel, secretsOfRelease } from "../compose/mod.ts";
import type { Release } from "../model/mod.ts";
import { stackAsOwner } from "../system/mod.ts";
import type { PrepareParts } from "./parts.ts";

/** The model of a release as text for people, without the values of secrets. */
export function shownModel(parts: PrepareParts, release: Release): string {
  hideSecrets(parts, release);
  return maskedModel(release.model, {
    digest: (text) => parts.key.digest(text),
    // External secrets are masked even if they are too short to be hidden in other texts.
    secrets: [...externalSecretsIn(release.invocation), ...secretsOfRelease(release)],
  });
}

/** Hides a release's secrets from all output; call it before anything of the release is shown. */
export function hideSecrets(
  { secrets }: { readonly secrets: Pick<PrepareParts["secrets"], "hide"> },
  release: Pick<Release, "key" | "model" | "invocation">,
): void {
  secrets.hide(secretsOfRelease(release), stackAsOwner(release.key));
}
