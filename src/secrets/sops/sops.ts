import { createHash } from "node:crypto";
import { clip, errors, isStackwrightError, StackwrightError } from "../../model/mod.ts";
import { MOST_OF_AN_OWNER, type Redactor, type Turns } from "../../system/mod.ts";
import { ageIdentities, createAgeKeys, isNativeIdentity } from "./age_keys.ts";
import { type DecryptedText, decryptText, withValues } from "./decrypt_text.ts";
import { mayBeEncrypted, readSopsText } from "./detect.ts";
import { type FileKind, fileKind } from "./file_kind.ts";
import { requireOwnPlaces } from "./key_places.ts";
import { readMetadata, type SopsMetadata } from "./metadata.ts";
import { programFile } from "./program_file.ts";
import { secretTexts } from "./secret_texts.ts";
import type { SopsProgram } from "./sops_program.ts";
import { SopsFormatError, type SopsText } from "./sops_text.ts";

/** A decrypted file. */
export interface PlainFile {
  readonly bytes: Uint8Array;
  /** Texts of it that must not be shown; the redactor knows them. */
  readonly secrets: readonly string[];
}

/** A file that may be encrypted. */
export interface SealedFile {
  /** Shown in errors; decides what {@link FileKind} says, and nothing else. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Owner of the file's secrets in the redactor; absent for the program itself. */
  readonly owner?: string;
}

/** Decrypts files that were encrypted with SOPS. */
export interface Sops {
  /**
   * The plain content of a file, or `undefined` when it is not encrypted. Secrets in it are registered
   * with the redactor. Equal content is decrypted once, and fails once.
   *
   * Throws `config_invalid` when it cannot be decrypted: no key fits, or it was changed or cut off;
   * `unsupported` when a program is needed that is not installed; `timeout`.
   */
  decrypt(file: SealedFile, signal: AbortSignal): Promise<PlainFile | undefined>;
}

interface SopsParts {
  /** Text with age identities, a line each; `undefined` without any. */
  readonly ageKey: string | undefined;
  readonly program: SopsProgram;
  readonly redactor: Redactor;
  /** Turns for taking files apart. */
  readonly turns: Turns;
}

/** Bytes of results kept in memory so that the same cipher text is decrypted once. */
const MOST_KEPT_BYTES = 16 * 1024 * 1024;

/** A file without content takes some, too, and so does each text to hide. */
function weightOf(kept: PlainFile | SopsFormatError): number {
  if (kept instanceof SopsFormatError) return 1000 + 2 * kept.message.length;
  const { bytes, secrets } = kept;
  return secrets.reduce((sum, each) => sum + 100 + 2 * each.length, 300 + bytes.length);
}

/** Makes the decrypter. Its keys are those it is made with. */
export function createSops(parts: SopsParts): Sops {
  const identities = ageIdentities(parts.ageKey ?? "");
  const dataKey = createAgeKeys(identities);
  const kept = new Map<string, PlainFile | SopsFormatError>();
  let keptBytes = 0;
  const keep = (id: string, result: PlainFile | SopsFormatError) => {
    if (kept.has(id)) return;
    kept.set(id, result);
    keptBytes += weightOf(result);
    for (const [oldest, file] of kept) {
      if (keptBytes <= MOST_KEPT_BYTES) break;
      kept.delete(oldest);
      keptBytes -= weightOf(file);
    }
  };
  const hidden = (plain: PlainFile, owner: string | undefined) => {
    plain.secrets.forEach((each) => parts.redactor.add(each, owner));
    return plain;
  };
  return {
    async decrypt({ name, bytes, owner }, signal) {
      if (!mayBeEncrypted(bytes)) return undefined;
      const turns = parts.turns.by(owner ?? "");
      // Repositories share what is kept: it must not depend on anything that is not in the key.
      const kind = fileKind(name);
      const id = createHash("sha256").update(`${kind}\0`).update(bytes).digest("base64");
      const known = kept.get(id);
      if (known instanceof SopsFormatError) throw named(known, name);
      if (known !== undefined) return hidden(known, owner);
      try {
        const file = await turns.take(() => readSopsText(kind, bytes), signal);
        if (file === undefined) return undefined;
        const keys = { identities, dataKey };
        const decrypted = await decryptFile({ ...parts, turns }, keys, file, signal);
        const isEncrypted = () => isEncryptedAgain(kind, decrypted.bytes);
        if (await turns.take(isEncrypted, signal)) throw new SopsFormatError(TWICE);
        const secrets = await turns.take(() => secretTexts(kind, file, decrypted), signal);
        const plain = { bytes: decrypted.bytes, secrets };
        if (plain.secrets.length > MOST_OF_AN_OWNER) throw new SopsFormatError(TOO_MANY);
        keep(id, plain);
        return hidden(plain, owner);
      } catch (error) {
        if (error instanceof SopsFormatError && !error.mayPass) keep(id, error);
        throw named(error, name);
      }
    },
  };
}

const TOO_MANY = `it has more than ${MOST_OF_AN_OWNER} texts that must not be shown; ` +
  "encrypt only what is a secret";
const TWICE = "it is encrypted twice; encrypt it once";

function isEncryptedAgain(kind: FileKind, bytes: Uint8Array): boolean {
  try {
    return readSopsText(kind, bytes) !== undefined;
  } catch (error) {
    if (error instanceof SopsFormatError) return true;
    throw error;
  }
}

interface OwnKeys {
  readonly identities: readonly string[];
  readonly dataKey: ReturnType<typeof createAgeKeys>;
}

/** Decrypts with age in this process if possible, else with the `sops` program. */
async function decryptFile(
  { program, turns }: Pick<SopsParts, "program" | "turns">,
  { identities, dataKey }: OwnKeys,
  file: SopsText,
  signal: AbortSignal,
): Promise<DecryptedText> {
  const metadata = readMetadata(file.metadata);
  if (metadata.keyGroups === 1) {
    const key = await dataKey(metadata.age);
    if (key !== undefined) return decryptText(file, metadata, key);
  }
  const isOurs = metadata.keyTypes.every((each) => each === "age") &&
    identities.every(isNativeIdentity);
  if (metadata.keyGroups === 1 && isOurs && identities.length > 0) throw noKey(metadata);
  requireOwnPlaces(metadata.keys, program.vaultAddress);
  const own = await turns.take(() => programFile(file, metadata), signal);
  const isMissed = metadata.keyTypes.includes("age") && identities.length === 0;
  const asked = isMissed ? { ...own, advice: SET_KEY } : own;
  const printed = await program.decrypt(asked, signal);
  if (printed === undefined) throw notInstalled(metadata, identities.length > 0);
  return await turns.take(() => withValues(file, own.values(printed), []), signal);
}

const SET_KEY = "; for age, set SOPS_AGE_KEY or SOPS_AGE_KEY_FILE";

function noKey({ age }: SopsMetadata): SopsFormatError {
  const recipients = clip(age.map((each) => clip(each.recipient, 100)).join(", "), 1000);
  return new SopsFormatError(
    `none of the age keys in SOPS_AGE_KEY or SOPS_AGE_KEY_FILE is one of its recipients (${recipients})`,
  );
}

function notInstalled(metadata: SopsMetadata, hasAgeKey: boolean): StackwrightError {
  const { keyGroups, keyTypes } = metadata;
  const types = keyTypes.join(", ") || "no known kind";
  if (keyGroups > 1) {
    return errors.unsupported(
      `its data key is split among ${keyGroups} key groups (${types}), which needs the sops program; ` +
        `it is not on PATH`,
    );
  }
  const age = keyTypes.includes("age")
    ? hasAgeKey ? "; none of the configured age keys fits" : SET_KEY
    : "";
  const only = keyTypes.every((each) => each === "age");
  const needs = only ? "" : `, which needs the sops program; it is not on PATH`;
  return errors.unsupported(`it is encrypted for keys of ${types}${needs}${age}`);
}

/** Adds the file's name to SOPS format errors and to three codes that lack it; others pass. */
function named(error: unknown, name: string): unknown {
  if (error instanceof SopsFormatError) {
    return errors.config_invalid(
      `${name} is encrypted with SOPS and cannot be decrypted: ${error.message}`,
    );
  }
  if (!isStackwrightError(error, "unsupported", "timeout", "payload_too_large")) return error;
  const message = `${name} is encrypted with SOPS and cannot be decrypted: ${error.message}`;
  return new StackwrightError(error.code, message, { cause: error });
}
