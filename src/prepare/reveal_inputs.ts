import { type ComposeInvocation, type ComposeModel, StackwrightError } from "../model/mod.ts";
import { contains, createPauses } from "../system/mod.ts";
import type { Revealed, RevealJob } from "./encrypted_files.ts";
import type { PrepareParts } from "./parts.ts";

/** Paths of a tree that compose reads, as far as they are known. */
interface InputsToReveal extends Omit<RevealJob, "tolerant"> {
  /** Whether `paths` is complete. */
  readonly complete: boolean;
}

/** The files that compose reads, decrypted. */
export interface RevealedInputs extends Revealed {
  /** Texts of other files, which were decrypted in case that compose reads them. */
  readonly others: ReadonlySet<string>;
}

/**
 * Decrypts the files that compose reads for rendering. If these are not known beforehand, as with a
 * variable in a name, tries every file; {@link requirePlain} finds one that was missed.
 */
export async function revealInputs(
  { encrypted }: Pick<PrepareParts, "encrypted">,
  { paths, complete, ...job }: InputsToReveal,
  signal: AbortSignal,
): Promise<RevealedInputs> {
  const named = paths.filter((path) => path !== ".");
  const known = await encrypted.reveal({ ...job, paths: named }, signal);
  if (complete && named.length === paths.length) return { ...known, others: new Set() };
  const rest = await encrypted.reveal({ ...job, paths: ["."], tolerant: true }, signal);
  return {
    // Only named files belong to the release: other installations may lack keys for the rest.
    identities: known.identities,
    secrets: known.secrets,
    others: rest.secrets,
    failures: rest.failures,
  };
}

/** Hides the texts of files that compose may read, with pauses: they are many, and each has many forms. */
export async function hideOthers(
  { secrets }: Pick<PrepareParts, "secrets">,
  { others }: Pick<RevealedInputs, "others">,
  owner: string,
): Promise<void> {
  const pauses = createPauses();
  for (const each of others) {
    secrets.hide([each], owner);
    await pauses.after(FORMS * (each.length + 100));
  }
}

/** Characters of the forms of a text for each of its own. */
const FORMS = 100;

/** Beginning of an encrypted value. */
const CIPHER_TEXT = "ENC[AES256_GCM,";

/**
 * Refuses a model with a value that is still encrypted, since a container would use it as it is.
 *
 * Throws `config_invalid` with the place of the value and why its file was not decrypted.
 */
export function requirePlain(model: ComposeModel, { failures }: Pick<Revealed, "failures">): void {
  const place = findCipherText(model, []);
  if (place === undefined) return;
  const why = failures.length === 0
    ? "the file it comes from is no complete SOPS file"
    : failures.map((each) => each.message).join("; ");
  const code = failures[0]?.code ?? "config_invalid";
  throw new StackwrightError(code, `${place.join(".")} is still encrypted: ${why}`);
}

function findCipherText(value: unknown, path: readonly string[]): readonly string[] | undefined {
  if (typeof value === "string") return value.includes(CIPHER_TEXT) ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = findCipherText(inner, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Characters of the shortest text that is kept as a secret of a release. */
const SHORTEST = 6;

interface ReleaseSecrets {
  /** Texts that were hidden for it, all of which are kept. */
  readonly hidden: readonly string[];
  /** Texts of files that it may not use; only those in the model are kept. */
  readonly others: Iterable<string>;
  /** Whether a text is known as a secret from elsewhere. */
  hides(text: string): boolean;
}

/** The invocation with all texts that must stay hidden when the release is shown later. */
export async function withSecrets(
  invocation: ComposeInvocation,
  model: ComposeModel,
  { hidden, others, hides }: ReleaseSecrets,
): Promise<ComposeInvocation> {
  const shown = JSON.stringify(model);
  const secrets = new Set(hidden);
  const pauses = createPauses();
  for (const each of others) {
    if (contains(shown, JSON.stringify(each).slice(1, -1))) secrets.add(each);
    await pauses.after(shown.length);
  }
  for (const each of new Set([...textsIn(model), ...Object.values(invocation.environment)])) {
    if (hides(each)) secrets.add(each);
    await pauses.after(each.length);
  }
  const kept = [...secrets].filter((each) => each.length >= SHORTEST);
  return kept.length === 0 ? invocation : { ...invocation, secrets: kept };
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value.replaceAll("$$", "$")];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
