/**
 * What the sops program reads and prints. It reads nothing that an author wrote as text: two readers of
 * one text may see two servers that hold its key.
 */
import { Buffer } from "node:buffer";
import { isObject, type JsonObject, parseJson } from "../../model/mod.ts";
import { sealedText } from "./cipher.ts";
import { withSealed } from "./decrypt_text.ts";
import { EXPRESSIONS, listOf, type SopsMetadata } from "./metadata.ts";
import { type PlainValue, SopsFormatError, type SopsText } from "./sops_text.ts";

/** A file for the program. */
export interface ProgramFile {
  readonly output: "json" | "binary";
  /** JSON, whatever the format of the author's file is. */
  readonly bytes: Uint8Array;
  /**
   * The values, one for each leaf of the file, from what the program printed; `undefined` for those that
   * were not encrypted. Throws {@link SopsFormatError} when it printed anything else.
   */
  values(printed: Uint8Array): readonly (PlainValue | undefined)[];
}

/** Name below which values stand that are not encrypted: the rules of the file are not the program's. */
const PLAIN = "_plain_for_stackwright";

/** `sops` to readers of JSON that do not care for case. */
const METADATA = /^[s\u017f]op[s\u017f]$/i;

interface Written {
  readonly path: readonly string[];
  readonly text: string;
}

/**
 * Writes a file for the program: the same values at the same keys in the same order, which is what
 * their cipher texts and the checksum are bound to, and the metadata that was judged. The checksum does
 * not cover comments: they are left out.
 *
 * Throws {@link SopsFormatError} for what is no cipher text, and keys that would mean something else.
 */
export function programFile(file: SopsText, metadata: SopsMetadata): ProgramFile {
  const sealed = file.leaves.map((leaf) => {
    requirePlace(leaf.path);
    return withSealed(leaf, metadata, (text) => text === "" ? EMPTY : sealedText(text));
  });
  const written = file.leaves.flatMap(({ path, checked }, index): Written[] => {
    const { type, sealed: text } = sealed[index] ?? {};
    if (type === "comment") return [];
    return [text === undefined ? { path: [...path, PLAIN], text: checked } : { path, text }];
  });
  const block = JSON.stringify(programBlock(file.metadata, metadata));
  const parts = partsOf(written, 0).map(({ text }) => text);
  // Bytes that are no text would be lost in JSON.
  const isBinary = file.format === "binary" && sealed[0] !== undefined;
  return {
    output: isBinary ? "binary" : "json",
    bytes: Buffer.from(`{${[...parts, `"sops":${block}`].join(",")}}`, "utf8"),
    values(printed) {
      const found = isBinary ? [printed] : textsIn(Buffer.from(printed).toString("utf8"));
      if (found.length !== written.length) throw new SopsFormatError(NOT_ALL);
      const rest = found.values();
      return sealed.map((each) => {
        if (each?.type === "comment") return { type: each.type, bytes: EMPTY.bytes };
        const bytes = rest.next().value ?? EMPTY.bytes;
        if (each !== undefined && each.length !== bytes.length) throw new SopsFormatError(NOT_ALL);
        return each && { type: each.type, bytes };
      });
    },
  };
}

const EMPTY = { sealed: "", type: "str", length: 0, bytes: new Uint8Array() } as const;
const NOT_ALL =
  "the sops program printed something else than its values, or one of them is no text";

function requirePlace(path: readonly string[]): void {
  if (
    path[0] !== undefined && !METADATA.test(path[0]) && !path.some((key) => key.endsWith(PLAIN))
  ) {
    return;
  }
  throw new SopsFormatError(
    "it has a value without a key, or a key that looks like metadata, which SOPS never writes",
  );
}

/**
 * The metadata as the program reads it of JSON, without the author's rules of what is encrypted. The
 * formats of lines keep lists as maps and everything else as texts.
 */
function programBlock(block: JsonObject, { macOnlyEncrypted }: SopsMetadata): JsonObject {
  const left = new Set(["encrypted_suffix", "mac_only_encrypted", ...EXPRESSIONS]);
  return {
    ...Object.fromEntries(
      Object.entries(withLists(block)).filter(([name]) => !left.has(name)).map(([name, value]) =>
        name === "shamir_threshold" ? [name, Number(value)] : [name, value]
      ),
    ),
    unencrypted_suffix: PLAIN,
    ...(macOnlyEncrypted ? { mac_only_encrypted: true } : {}),
  };
}

function withLists(holder: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(holder).map(([name, value]) => {
      const isList = name !== "context" && (isObject(value) || Array.isArray(value));
      return [name, isList ? listOf(value).map(withLists) : value];
    }),
  );
}

/** Values as items of a list or, with a name, members: places in lists do not count for SOPS. */
function partsOf(values: readonly Written[], depth: number) {
  const groups: { readonly name: string | undefined; readonly values: Written[] }[] = [];
  for (const each of values) {
    const name = each.path[depth];
    const last = groups.at(-1);
    if (last !== undefined && name !== undefined && last.name === name) last.values.push(each);
    else groups.push({ name, values: [each] });
  }
  return groups.map(({ name, values }): { readonly isMember: boolean; readonly text: string } => {
    if (name === undefined) return { isMember: false, text: JSON.stringify(values[0]?.text) };
    const items = partsOf(values, depth + 1).map(({ isMember, text }) =>
      isMember ? `{${text}}` : text
    );
    const isOne = values.length === 1 && values[0]?.path.length === depth + 1;
    const value = isOne ? items[0] : `[${items.join(",")}]`;
    return { isMember: true, text: `${JSON.stringify(name)}:${value}` };
  });
}

/** The texts in a JSON text that are values, in their order. */
function textsIn(json: string): Uint8Array[] {
  const texts: Uint8Array[] = [];
  for (let start = json.indexOf('"'); start >= 0;) {
    let end = json.indexOf('"', start + 1);
    while (end >= 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
    if (end < 0) break;
    if (!/^\s*:/.test(json.slice(end + 1, end + 10))) {
      texts.push(Buffer.from(String(parseJson(json.slice(start, end + 1))), "utf8"));
    }
    start = json.indexOf('"', end + 1);
  }
  return texts;
}

function isEscaped(text: string, at: number): boolean {
  let before = at;
  while (text[before - 1] === "\\") before--;
  return (at - before) % 2 === 1;
}
