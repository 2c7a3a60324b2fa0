import { Buffer } from "node:buffer";
import { clip } from "../../model/mod.ts";

/** A value of a file as SOPS sees it. */
export interface SopsLeaf {
  /** Keys from the root; places in lists do not count. */
  readonly path: readonly string[];
  /** The text, where it is one: then it may be encrypted. */
  readonly text: string | undefined;
  /** What the checksum covers when the value is not encrypted. */
  readonly checked: string;
  /** True for an item of a list: SOPS writes comments within lists as such. */
  readonly mayBeComment?: boolean;
}

/** A decrypted value, or a comment in the place of one. */
export interface PlainValue {
  readonly type: "str" | "int" | "float" | "bool" | "bytes" | "time" | "comment";
  readonly bytes: Uint8Array;
}

/** One encrypted file, taken apart. Every format has a reader that makes one. */
export interface SopsText {
  readonly format: "yaml" | "json" | "dotenv" | "ini" | "binary";
  /** The metadata block, as nested objects. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** In the order of the checksum. */
  readonly leaves: readonly SopsLeaf[];
  /** Encrypted comments; the checksum does not cover them. */
  readonly comments: readonly SopsComment[];
  /**
   * The file without metadata, with `values` (one for each leaf, `undefined` to leave it) and
   * `comments` (`undefined` to leave it out) in place; everything else is as it was. An item of a list
   * that is a comment is none any more.
   */
  write(
    values: readonly (PlainValue | undefined)[],
    comments: readonly (string | undefined)[],
  ): Uint8Array;
}

interface SopsComment {
  /** Where it may belong: its cipher text is bound to the keys above it. */
  readonly paths: readonly (readonly string[])[];
  readonly text: string;
}

/** A file that is encrypted and cannot be read as such; the message names no value. */
export class SopsFormatError extends Error {
  override readonly name = "SopsFormatError";
  /** Whether the same file may be decrypted another time: a program asked for its key. */
  readonly mayPass: boolean;

  constructor(message: string, { mayPass = false }: { readonly mayPass?: boolean } = {}) {
    super(message);
    this.mayPass = mayPass;
  }
}

/** A piece of a text and what takes its place. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** `text` with every replacement made. They may come in any order and must not overlap. */
export function replaced(text: string, replacements: readonly Replacement[]): string {
  let result = "";
  let at = 0;
  for (const { start, end, text: next } of [...replacements].sort((a, b) => a.start - b.start)) {
    result += text.slice(at, start) + next;
    at = end;
  }
  return result + text.slice(at);
}

/** What a comment says, `undefined` when readers would see several lines. */
export function commentText(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString("utf8");
  return /[\r\n\u0085\u2028\u2029]/.test(text) ? undefined : text;
}

/** The pattern of an encrypted comment. */
export const ENCRYPTED_COMMENT = /ENC\[AES256_GCM,[^\][]*\]/;

/** Turns `age__list_0__map_enc` and its like into nested lists and maps. */
export function unflatten(flat: ReadonlyMap<string, string>): Record<string, unknown> {
  const root: Record<string, unknown> = Object.create(null);
  for (const [name, value] of flat) {
    const [first = "", ...steps] = name.split(/__(?=list_|map_)/);
    // The program takes a place that is no number for the first.
    if (steps.some((each) => !/^(?:list_(?:0|[1-9]\d{0,3})|map_.+)$/s.test(each))) {
      throw malformed(name);
    }
    let holder: Record<string, unknown> = root;
    let key = first;
    for (const step of steps) {
      const isList = step.startsWith("list_");
      const next = holder[key] ?? Object.create(null);
      if (typeof next !== "object") throw malformed(name);
      holder[key] = next;
      holder = next as Record<string, unknown>;
      key = step.slice(isList ? "list_".length : "map_".length);
    }
    holder[key] = value;
  }
  return root;
}

function malformed(name: string): SopsFormatError {
  return new SopsFormatError(`its metadata ${JSON.stringify(clip(name, 100))} is malformed`);
}
