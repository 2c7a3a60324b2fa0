import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import { checkedValue, isEncryptedValue, openValue } from "./cipher.ts";
import { clip } from "../../model/mod.ts";
import type { SopsMetadata } from "./metadata.ts";
import {
  commentText,
  type PlainValue,
  SopsFormatError,
  type SopsLeaf,
  type SopsText,
} from "./sops_text.ts";

/** A decrypted file with the texts that were encrypted in it. */
export interface DecryptedText {
  readonly bytes: Uint8Array;
  readonly texts: readonly { readonly path: readonly string[]; readonly text: string }[];
}

/** Starts the checksum of files that check only what is encrypted: SHA-256 of `sops`. */
const ONLY_ENCRYPTED = Buffer.from(
  "8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69",
  "hex",
);

/**
 * Decrypts every value with the data key and checks that nothing was added, removed, moved or
 * changed since the file was encrypted.
 *
 * Throws {@link SopsFormatError} naming the key path, never a value.
 */
export function decryptText(
  file: SopsText,
  metadata: SopsMetadata,
  key: Uint8Array,
): DecryptedText {
  const hash = createHash("sha512");
  if (metadata.macOnlyEncrypted) hash.update(ONLY_ENCRYPTED);
  const values = file.leaves.map((leaf) => {
    const value = openLeaf(leaf, metadata, key);
    if (value !== undefined) hash.update(checkedValue(value));
    else if (!metadata.macOnlyEncrypted) hash.update(leaf.checked);
    return value;
  });
  checkMac(metadata, key, hash.digest("hex").toUpperCase());
  const comments = file.comments.map(({ paths, text }) => openComment(paths, text, key));
  return withValues(file, values, comments);
}

/** The file with its decrypted values and comments in place. */
export function withValues(
  file: SopsText,
  values: readonly (PlainValue | undefined)[],
  comments: readonly (string | undefined)[],
): DecryptedText {
  const texts = values.flatMap((value, index) => textAt(file.leaves[index], value) ?? []);
  const said = comments.flatMap((text) => text === undefined ? [] : [{ path: [], text }]);
  return { bytes: file.write(values, comments), texts: [...texts, ...said] };
}

function textAt({ path }: Pick<SopsLeaf, "path"> = { path: [] }, value: PlainValue | undefined) {
  if (value === undefined || value.type === "bool") return undefined;
  // Comments often hold former passwords, also below a key that names things.
  const named = value.type === "comment" ? [] : path;
  return { path: named, text: Buffer.from(value.bytes).toString("utf8") };
}

/** The value of an encrypted leaf, `undefined` for one that is not. */
function openLeaf(leaf: SopsLeaf, metadata: SopsMetadata, key: Uint8Array): PlainValue | undefined {
  return withSealed(leaf, metadata, (text) => {
    if (text === "") return { type: "str", bytes: new Uint8Array() };
    return openValue(text, key, `${leaf.path.join(":")}:`);
  });
}

/**
 * What `work` makes of the cipher text of a leaf, or of an empty text, which SOPS leaves so; `undefined`
 * for a leaf that is not encrypted. Throws {@link SopsFormatError} with the place of the leaf, also for
 * a comment where SOPS writes none.
 */
export function withSealed<T extends Pick<PlainValue, "type">>(
  { path, text, mayBeComment }: SopsLeaf,
  metadata: SopsMetadata,
  work: (text: string) => T,
): T | undefined {
  if (!isToBeOpened(path, text, metadata)) return undefined;
  const where = () => clip(path.join("."), 1000) || "the document";
  if (text === undefined || (text !== "" && !isEncryptedValue(text))) {
    throw new SopsFormatError(`${where()} is not encrypted although the file says that it is`);
  }
  try {
    const found = work(text);
    if (found.type !== "comment" || mayBeComment === true) return found;
    throw new SopsFormatError("is a comment, not a value");
  } catch (error) {
    if (error instanceof SopsFormatError) throw new SopsFormatError(`${where()} ${error.message}`);
    throw error;
  }
}

/**
 * Whether a value has to be decrypted, by the suffixes of its keys. Regular expressions of the file are not run,
 * since an author could choose an endless one: then encrypted values are recognised by their form, and
 * the checksum detects changes.
 */
function isToBeOpened(
  path: readonly string[],
  text: string | undefined,
  { unencryptedSuffix, encryptedSuffix, byExpression }: SopsMetadata,
): boolean {
  if (byExpression) return text !== undefined && isEncryptedValue(text);
  if (encryptedSuffix !== "") return path.some((each) => each.endsWith(encryptedSuffix));
  return unencryptedSuffix === "" || !path.some((each) => each.endsWith(unencryptedSuffix));
}

function checkMac({ mac, lastModified }: SopsMetadata, key: Uint8Array, found: string): void {
  let wanted: Uint8Array;
  try {
    wanted = openValue(mac, key, lastModified).bytes;
  } catch (error) {
    if (error instanceof SopsFormatError) throw new SopsFormatError(`its MAC ${error.message}`);
    throw error;
  }
  const bytes = Buffer.from(found);
  if (wanted.length !== bytes.length || !timingSafeEqual(wanted, bytes)) {
    throw new SopsFormatError("its MAC does not match: values were added, removed or changed");
  }
}

/** Characters of an encrypted comment that is opened: it is tried for each of up to 400 keys. */
const LONGEST_COMMENT = 64 * 1024;

/** Older versions of SOPS left comments alone or bound to other keys: left out, as very long ones are. */
function openComment(paths: readonly (readonly string[])[], text: string, key: Uint8Array) {
  if (text.length > LONGEST_COMMENT) return undefined;
  for (const path of paths) {
    try {
      const { bytes } = openValue(text, key, `${path.join(":")}:`);
      return commentText(bytes);
    } catch (error) {
      if (!(error instanceof SopsFormatError)) throw error;
    }
  }
  return undefined;
}
