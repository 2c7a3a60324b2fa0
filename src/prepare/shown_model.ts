import { externalSecretsIn, maskedModel, stepsToSecrets } from "../compose/mod.ts";
import type { Release } from "../model/mod.ts";
import { createPauses, stackAsOwner } from "../system/mod.ts";
import type { PrepareParts } from "./parts.ts";
import { filesOwner } from "./target.ts";

/** The model of a release as text for people, without the values of secrets; pauses for other work. */
export async function shownModel(parts: PrepareParts, release: Release): Promise<string> {
  const pauses = createPauses(STEPS_AT_ONCE);
  const secrets: string[] = [];
  for (const found of hidingSteps(parts, release)) {
    secrets.push(...found);
    await pauses.after(1);
  }
  return maskedModel(release.model, {
    digest: (text) => parts.key.shown(release.key, text),
    // External secrets are masked even if they are too short to be hidden in other texts.
    secrets: [...externalSecretsIn(release.invocation), ...secrets],
  });
}

/** Hides a release's secrets everywhere, with pauses for other work; await it before showing any. */
export async function hideSecrets(parts: Hiding, release: HiddenRelease): Promise<void> {
  const pauses = createPauses(STEPS_AT_ONCE);
  for (const _ of hidingSteps(parts, release)) await pauses.after(1);
}

/** Steps of {@link hideSecrets}, each of which takes little, with what was hidden. */
export function* hidingSteps(
  { secrets }: Hiding,
  release: HiddenRelease,
): Generator<readonly string[]> {
  const owner = stackAsOwner(release.key);
  for (const found of stepsToSecrets(release)) {
    if (found.length > 0) secrets.hide(found, owner);
    yield found;
  }
}

/**
 * Decrypts the files of a release in its tree; their texts are hidden, also if its record has none.
 * Throws as `EncryptedFiles.reveal` does; with `tolerant`, leaves what cannot be decrypted.
 */
export async function revealFiles(
  { encrypted, secrets }: Pick<PrepareParts, "encrypted" | "secrets">,
  release: Pick<Release, "key" | "revision" | "configuration" | "closure">,
  { tree, tolerant = false }: { readonly tree: string; readonly tolerant?: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { key, revision, closure } = release;
  const owner = filesOwner(release, revision);
  const job = { revision, tree, owner, paths: closure.encrypted ?? [], tolerant };
  try {
    const revealed = await encrypted.reveal(job, signal);
    secrets.hide(revealed.secrets, stackAsOwner(key));
  } catch (error) {
    signal.throwIfAborted();
    if (!tolerant) throw error;
  }
}

/** Steps to make without a pause, in which few milliseconds go by. */
const STEPS_AT_ONCE = 100;

interface Hiding {
  readonly secrets: Pick<PrepareParts["secrets"], "hide">;
}

type HiddenRelease = Pick<Release, "key" | "model" | "invocation">;
