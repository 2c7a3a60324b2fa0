import { Buffer } from "node:buffer";
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

/** Characters of an entry: SOPS writes 400 for a key, and 2300 for a post-quantum one. */
const LONGEST_ENTRY = 4096;
/** Stanzas of an entry: SOPS writes one, and some implementations of age add one that means nothing. */
const MOST_STANZAS = 2;

/**
 * Makes the opener of data keys with `identities`; without one that fits it finds `undefined`. SOPS writes
 * for whom an entry is, so each identity tries one entry at most, however many a file has.
 */
export function createAgeKeys(
  identities: readonly string[],
): (recipients: readonly AgeRecipient[]) => Promise<Uint8Array | undefined> {
  let decrypters: Promise<ReadonlyMap<string, Age.Decrypter>> | undefined;
  return async (recipients) => {
    // Its curves take milliseconds to set up, and most services never decrypt anything.
    const age = await import("age-encryption");
    for (const [recipient, decrypter] of await (decrypters ??= decryptersFor(age, identities))) {
      const { enc = "" } = recipients.find((each) => each.recipient === recipient) ?? {};
      if (enc === "" || enc.length > LONGEST_ENTRY) continue;
      try {
        const entry = age.armor.decode(`${enc.trim()}\n`);
        const stanzas = Buffer.from(entry).toString("latin1").split("\n-> ").length - 1;
        if (stanzas <= MOST_STANZAS) return await decrypter.decrypt(entry);
      } catch {
        // It is damaged: that for another identity may still fit.
      }
    }
    return undefined;
  };
}

/** Decrypters by their recipients. */
async function decryptersFor(age: typeof Age, identities: readonly string[]) {
  const found = new Map<string, Age.Decrypter>();
  for (const identity of identities.filter(isNativeIdentity)) {
    try {
      const decrypter = new age.Decrypter();
      decrypter.addIdentity(identity);
      found.set(await age.identityToRecipient(identity), decrypter);
    } catch {
      // Mistyped: reported when the settings are read, as far as its form shows it.
    }
  }
  return found;
}
