import { Buffer } from "node:buffer";
import {
  ENCRYPTED_COMMENT,
  type PlainValue,
  SopsFormatError,
  type SopsLeaf,
  type SopsText,
  unflatten,
} from "./sops_text.ts";

/** One line: what it says, or the comment it is. */
type Line =
  | { readonly kind: "value"; readonly before: string; readonly leaf: SopsLeaf }
  | { readonly kind: "comment"; readonly before: string; readonly path: readonly string[] }
  | { readonly kind: "other" };

interface Lines {
  readonly format: "dotenv" | "ini";
  readonly metadata: ReadonlyMap<string, string>;
  /** With the text of each line. */
  readonly lines: readonly (readonly [string, Line])[];
  spelled(value: PlainValue): string;
}

/** Takes a dotenv file apart; `undefined` when it has no metadata. */
export function readDotenvText(text: string): SopsText | undefined {
  if (!/^sops_(?:mac|lastmodified)=/m.test(text)) return undefined;
  const metadata = new Map<string, string>();
  const lines: [string, Line][] = [];
  for (const line of text.split("\n")) {
    const equals = line.indexOf("=");
    if (line.startsWith("sops_")) {
      setOnce(metadata, line.slice(5, equals), withBreaks(line.slice(equals + 1).trimEnd()));
    } else lines.push([line, dotenvLine(line, equals)]);
  }
  const spelled = ({ bytes }: PlainValue) =>
    Buffer.from(bytes).toString("utf8").replaceAll("\n", "\\n");
  return readLines({ format: "dotenv", metadata, lines, spelled });
}

function dotenvLine(line: string, equals: number): Line {
  if (line.startsWith("#")) return { kind: "comment", before: "#", path: [] };
  if (line.trim() === "") return { kind: "other" };
  if (equals < 0) throw new SopsFormatError("a line is neither a comment nor NAME=value");
  const value = withBreaks(line.slice(equals + 1));
  const leaf = { path: [line.slice(0, equals)], text: value, checked: value };
  return { kind: "value", before: line.slice(0, equals + 1), leaf };
}

/** Takes an INI file apart; `undefined` when it has no metadata. */
export function readIniText(text: string): SopsText | undefined {
  if (!/^\[sops\]\s*$/m.test(text)) return undefined;
  const metadata = new Map<string, string>();
  const lines: [string, Line][] = [];
  let section = "DEFAULT";
  for (const line of text.split("\n")) {
    requirePlainLine(line);
    const title = TITLE.exec(line);
    if (title !== null) section = title[1] ?? "";
    if (section === "sops") {
      const { key, value } = assignmentOf(line);
      const isComment = /^\s*[#;]/.test(line);
      if (title === null && key !== "" && !isComment) setOnce(metadata, key, withBreaks(value));
    } else lines.push([line, iniLine(line, section)]);
  }
  return readLines({ format: "ini", metadata, lines, spelled: spelledIni });
}

const TITLE = /^\s*\[([^\]]+)\]\s*$/;

/**
 * Refuses what the sops program reads as other lines than we do: it knows values of several lines, names in
 * quotes, comments behind sections, and other blanks. So an author could hide a section, or its end, from us.
 */
function requirePlainLine(line: string): void {
  if (/^\s*[#;]/.test(line) || TITLE.test(line)) return requireUsualBlanks(line);
  const { value } = assignmentOf(line);
  const isOpen = value.endsWith("\\") ||
    ['"""', "`"].some((each) => value.startsWith(each) && value.lastIndexOf(each) < each.length);
  if (isOpen || /^\s*["`[]/.test(line)) throw unclear();
  requireUsualBlanks(line);
}

function requireUsualBlanks(line: string): void {
  if (/[\u0085\ufeff]/.test(line)) throw unclear();
}

function unclear(): SopsFormatError {
  return new SopsFormatError("a line is written as SOPS never writes it: write it as name = value");
}

/** Refuses duplicate keys, of which some readers take the first, others the last. */
function setOnce(metadata: Map<string, string>, key: string, value: string): void {
  if (metadata.has(key)) throw new SopsFormatError("a part of its metadata is there twice");
  metadata.set(key, value);
}

function iniLine(line: string, section: string): Line {
  const [comment] = /^\s*[#;]\s*/.exec(line) ?? [];
  if (comment !== undefined) return { kind: "comment", before: comment, path: [section] };
  if (TITLE.test(line) || line.trim() === "") return { kind: "other" };
  const { before, key, value } = assignmentOf(line);
  if (key === "") throw new SopsFormatError("a line is neither a section nor name = value");
  const bare = /^(["'`])(.*)\1$/.exec(value)?.[2] ?? value;
  return { kind: "value", before, leaf: { path: [section, key], text: bare, checked: bare } };
}

function readLines({ format, metadata, lines, spelled }: Lines): SopsText {
  const leaves = lines.flatMap(([, line]) => line.kind === "value" ? [line.leaf] : []);
  const comments = lines.flatMap(([text, line]) =>
    line.kind === "comment" && ENCRYPTED_COMMENT.test(text)
      ? [{ paths: [line.path], text: text.slice(line.before.length) }]
      : []
  );
  return {
    format,
    metadata: unflatten(metadata),
    leaves,
    comments,
    write(values, plainComments) {
      let leaf = 0;
      let comment = 0;
      const written = lines.flatMap(([text, line]) => {
        if (line.kind === "value") {
          const value = values[leaf++];
          return [value === undefined ? text : line.before + spelled(value)];
        }
        if (line.kind === "comment" && ENCRYPTED_COMMENT.test(text)) {
          const plain = plainComments[comment++];
          return plain === undefined ? [] : [line.before + plain];
        }
        return [text];
      });
      return Buffer.from(written.join("\n"), "utf8");
    },
  };
}

/** A line of an INI file at its first `=` or `:`; all of it empty where there is none. */
function assignmentOf(line: string): { before: string; key: string; value: string } {
  const sign = line.search(/[=:]/);
  if (sign < 0) return { before: "", key: "", value: "" };
  const rest = line.slice(sign + 1);
  const value = rest.trimStart();
  const before = line.slice(0, line.length - value.length);
  return { before, key: line.slice(0, sign).trim(), value: value.trimEnd() };
}

/** Both formats keep a value on one line. */
function withBreaks(value: string): string {
  return value.replaceAll("\\n", "\n");
}

function spelledIni({ bytes }: PlainValue): string {
  const text = Buffer.from(bytes).toString("utf8");
  if (/[\n`]/.test(text)) return `"""${text}"""`;
  return /[#;]/.test(text) || text !== text.trim() ? `\`${text}\`` : text;
}
