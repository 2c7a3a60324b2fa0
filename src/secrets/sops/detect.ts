import { Buffer } from "node:buffer";
import { tooManySigns } from "../../config/mod.ts";
import type { FileKind } from "./file_kind.ts";
import { asBinary, readJsonText } from "./json_text.ts";
import { readDotenvText, readIniText } from "./line_text.ts";
import { isSopsMetadata } from "./metadata.ts";
import { SopsFormatError, type SopsText } from "./sops_text.ts";
import { readYamlText } from "./yaml_text.ts";
import { strictUtf8 } from "../../model/mod.ts";

const MARKS = ["sops", "ENC[AES256_GCM,"] as const;

/** True when bytes can be an encrypted file at all: a search, no parsing. */
export function mayBeEncrypted(bytes: Uint8Array): boolean {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return MARKS.every((mark) => view.includes(mark));
}

/**
 * Takes an encrypted file apart; `undefined` when it is none. A text that only speaks of SOPS is
 * none: what counts is the metadata block. The kind decides only where the content leaves it open:
 * whether a JSON object is a JSON file or the envelope of a binary one, and whether a text without
 * a line that only SOPS writes is YAML.
 *
 * Throws `SopsFormatError` when it is encrypted and malformed, or too large to be taken apart.
 */
export function readSopsText(kind: FileKind, bytes: Uint8Array): SopsText | undefined {
  if (!mayBeEncrypted(bytes)) return undefined;
  const text = strictUtf8(bytes);
  if (text === undefined) return undefined;
  const candidates = readers(kind, text);
  const tooMany = candidates.length === 0 ? undefined : tooManySigns(text);
  if (tooMany !== undefined) {
    if (METADATA.test(text)) throw new SopsFormatError(tooMany);
    return undefined;
  }
  const file = candidates.map((read) => read(text)).find((each) => each !== undefined);
  if (file === undefined || !isSopsMetadata(file.metadata)) return undefined;
  requireShortNames(file);
  return kind === "other" ? asBinary(file) ?? file : file;
}

/** Limit of the characters of the keys above all values; a comment is tried below several of them. */
const MOST_NAMED = 16 * 1024 ** 2;
/** What it takes to try a comment, besides the characters that it may be bound to. */
const OF_A_TRY = 200;

/** Each value and each comment is bound to all keys above it, which have any length. */
function requireShortNames({ leaves, comments }: SopsText): void {
  let named = 0;
  const add = (path: readonly string[], more = 0) => {
    named += path.reduce((sum, each) => sum + each.length + 1, more);
    if (named <= MOST_NAMED) return;
    throw new SopsFormatError(
      `the names of the keys above its values and comments have more than ${MOST_NAMED} characters ` +
        "(each counts for each of these)",
    );
  };
  for (const { path } of leaves) add(path);
  for (const { paths } of comments) for (const path of paths) add(path, OF_A_TRY);
}

/** The beginning of metadata, in any of the formats. */
const METADATA =
  /^["']?sops["']?:|^\s{0,99}"sops":|^sops_(?:mac|lastmodified)=|^\[sops\]|[{,]"sops":/m;

type Reader = (text: string) => SopsText | undefined;

/** By the first character or, where that says nothing, by the line the format must have. */
function readers(kind: FileKind, text: string): Reader[] {
  if (text.trimStart().startsWith("{")) return [readJsonText];
  if (/^sops:/m.test(text)) return [readYamlText];
  if (/^sops_(?:mac|lastmodified)=/m.test(text)) return [readDotenvText];
  if (/^\[sops\]\s*$/m.test(text)) return [readIniText];
  return kind === "yaml" || kind === "configuration" ? [readYamlText] : [];
}
