import { maskedModel } from "../deploy/mod.ts";
import type { Release } from "../model/mod.ts";
import type { PipelineParts } from "./parts.ts";

/** The model of a release as text for people, without the values of its secrets. */
export function shownModel(parts: PipelineParts, release: Release): string {
  hideSecrets(parts, release);
  return maskedModel(release.model, {
    digest: (text) => parts.key.digest(text),
    secrets: externalSecretsIn(release),
  });
}

/** Makes the secrets of a release unprintable; to be called before anything of it can be shown. */
export function hideSecrets(
  { secrets, encrypted }: Pick<PipelineParts, "secrets" | "encrypted">,
  release: Release,
): void {
  secrets.hide(externalSecretsIn(release));
  encrypted.conceal(release);
}

function externalSecretsIn({ invocation }: Release): string[] {
  const { environment, secretVariables = [] } = invocation;
  return secretVariables.flatMap((name) => environment[name] ?? []);
}
