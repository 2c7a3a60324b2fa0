import { isObject } from "../../model/mod.ts";
import { SopsFormatError } from "./sops_text.ts";

/** An age recipient; the identity of one recipient suffices. */
export interface AgeRecipient {
  readonly recipient: string;
  /** The data key, encrypted for it; armored. */
  readonly enc: string;
}

/** Metadata of how a file was encrypted. */
export interface SopsMetadata {
  readonly age: readonly AgeRecipient[];
  /** Every kind of key that could decrypt it, as SOPS calls them (`age`, `pgp`, `kms`). */
  readonly keyTypes: readonly string[];
  /** The entries of one kind of key, as they are written. */
  readonly keys: (kind: string) => readonly Readonly<Record<string, unknown>>[];
  /** Number of groups of keys that hold a share of the data key; 1 is the usual case. */
  readonly keyGroups: number;
  readonly mac: string;
  /** As the checksum is bound to it. */
  readonly lastModified: string;
  readonly macOnlyEncrypted: boolean;
  readonly unencryptedSuffix: string;
  readonly encryptedSuffix: string;
  /** Whether expressions choose what is encrypted; then the values themselves tell. */
  readonly byExpression: boolean;
}

/** Members with expressions that choose what is encrypted. */
export const EXPRESSIONS = [
  "encrypted_regex",
  "unencrypted_regex",
  "encrypted_comment_regex",
  "unencrypted_comment_regex",
];

/** True when a block has what only SOPS writes. */
export function isSopsMetadata(value: Readonly<Record<string, unknown>>): boolean {
  return textOf(value, "mac") !== "" || textOf(value, "lastmodified") !== "";
}

/** Names that SOPS gives the parts of its metadata. */
const NAME = /^[a-z0-9_]+$/;

/**
 * Refuses names that the sops program reads differently: in JSON it takes `HC_Vault` for `hc_vault`, and
 * it resolves `<<`. Our decisions must rest on the same metadata that the program sees.
 */
function requirePlainNames(value: unknown): void {
  if (Array.isArray(value)) return value.forEach(requirePlainNames);
  if (!isObject(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!NAME.test(name)) {
      throw new SopsFormatError("its metadata has a name that SOPS never writes");
    }
    // The names in `context` are the author's own, without a meaning to SOPS.
    if (name !== "context") requirePlainNames(inner);
  }
}

/** Reads the metadata. Throws {@link SopsFormatError} for a part that is missing or unclear. */
export function readMetadata(block: Readonly<Record<string, unknown>>): SopsMetadata {
  requirePlainNames(block);
  const groups = listOf(block["key_groups"]);
  const holders = [block, ...groups];
  const keys = (kind: string) => holders.flatMap((each) => listOf(each[kind]));
  const mac = textOf(block, "mac");
  if (mac === "") {
    throw new SopsFormatError("it has no MAC, so nobody can tell whether it was changed");
  }
  const byExpression = EXPRESSIONS.some((name) => textOf(block, name) !== "");
  const encryptedSuffix = textOf(block, "encrypted_suffix");
  const given = textOf(block, "unencrypted_suffix");
  const noRule = given === "" && encryptedSuffix === "" && !byExpression;
  const only = block["mac_only_encrypted"];
  return {
    age: keys("age").map((each) => ({
      recipient: textOf(each, "recipient"),
      enc: textOf(each, "enc"),
    })),
    keyTypes: [...new Set(holders.flatMap(keyTypesIn))].sort(),
    keys,
    keyGroups: Math.max(1, groups.length),
    mac,
    lastModified: formattedTime(textOf(block, "lastmodified")),
    macOnlyEncrypted: only === true || only === "true",
    unencryptedSuffix: noRule ? "_unencrypted" : given,
    encryptedSuffix,
    byExpression,
  };
}

/** Lists of keys: everything with an encrypted data key in it. */
function keyTypesIn(holder: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(holder).filter(([name, value]) =>
    name !== "key_groups" && listOf(value).some((each) => "enc" in each)
  ).map(([name]) => name);
}

/** Seconds and `Z` for UTC, which is how SOPS writes the time again before it binds to it. */
function formattedTime(text: string): string {
  const match = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})(?:\.\d+)?(Z|[+-]\d{2}:\d{2})$/.exec(text);
  if (match === null) throw new SopsFormatError("its lastmodified is missing or malformed");
  const [, time = "", zone = ""] = match;
  return time + (/^[+-]00:00$/.test(zone) ? "Z" : zone);
}

function textOf(holder: Readonly<Record<string, unknown>>, name: string): string {
  const value = holder[name];
  return typeof value === "string" ? value.trim() : "";
}

/**
 * The entries of a list, or of an object whose keys are places in one (dotenv and INI); none of a scalar.
 * Refuses everything else: the program takes an object in the place of a list for its only entry.
 */
export function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (typeof value !== "object" || value === null) return [];
  const entries = Object.entries(value);
  if (entries.every(([key, each], index) => key === String(index) && isObject(each))) {
    return entries.map(([, each]) => each);
  }
  throw new SopsFormatError("its metadata has something else in the place of a list");
}
