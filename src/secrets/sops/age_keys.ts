import type * as Age from "age-encryption";
import type { AgeRecipient } from "./metadata.ts";

/** The identities in the text of a key file: a line each, empty lines and comments left out. */
export function ageIdentities(text: string): string[] {
  return text.split(/\r?\n/).map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}

/** True when the identities are of the kind that works without a plugin. */
export function isNativeIdentity(identity: string): boolean {
  return identity.startsWith("AGE-SECRET-KEY-");
}

/** Recipients that are tried, and characters of what each has: SOPS writes 400 for one key. */
const MOST_RECIPIENTS = 200;
const LONGEST_ENTRY = 8192;

/** The data key, by the first recipient that an identity belongs to; `undefined` without one. */
export async function ageDataKey(
  recipients: readonly AgeRecipient[],
  identities: readonly string[],
): Promise<Uint8Array | undefined> {
  // Its curves take milliseconds to set up, and most services never decrypt anything.
  const age = await import("age-encryption");
  const decrypter = decrypterFor(age, identities);
  if (decrypter === undefined) return undefined;
  for (const { enc } of recipients.slice(0, MOST_RECIPIENTS)) {
    if (enc.length > LONGEST_ENTRY) continue;
    try {
      return await decrypter.decrypt(age.armor.decode(`${enc.trim()}\n`));
    } catch {
      // This entry is for another key, or damaged: the next one may still fit.
    }
  }
  return undefined;
}

function decrypterFor(age: typeof Age, identities: readonly string[]): Age.Decrypter | undefined {
  const decrypter = new age.Decrypter();
  let count = 0;
  for (const identity of identities.filter(isNativeIdentity)) {
    try {
      decrypter.addIdentity(identity);
      count++;
    } catch {
      // Mistyped: reported when the settings are read, as far as its form shows it.
    }
  }
  return count === 0 ? undefined : decrypter;
}
