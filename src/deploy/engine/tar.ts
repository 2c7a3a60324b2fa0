import { Buffer } from "node:buffer";

const BLOCK = 512;
/** Bytes of the longest path that fits into a plain header. */
export const LONGEST_PATH = 100;

const encoder = new TextEncoder();

/** A file, directory or symbolic link of an archive. */
export interface TarEntry {
  readonly path: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Content of a file, or target of a link. */
  readonly content: string | Uint8Array;
  readonly kind?: "file" | "directory" | "symlink";
}

/** An archive of files to unpack at `/`; `seconds` since 1970 is their time of change. */
export function tarOf(files: readonly TarEntry[], seconds: number): Uint8Array {
  const parts = files.flatMap((file) => {
    const { kind = "file" } = file;
    const content = kind === "file" ? bytesOf(file.content) : new Uint8Array();
    return [...longNames(file, seconds), header(file, content.length, seconds), ...padded(content)];
  });
  return Buffer.concat([...parts, new Uint8Array(2 * BLOCK)]);
}

/** Bytes of a file's path in an archive, without a leading slash. */
export function pathBytes(path: string): Uint8Array {
  return encoder.encode(path.replace(/^\/+/, ""));
}

const TYPES = { file: "0", symlink: "2", directory: "5", names: "x" } as const;

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? encoder.encode(content) : content;
}

function padded(content: Uint8Array): Uint8Array[] {
  return [content, new Uint8Array((BLOCK - content.length % BLOCK) % BLOCK)];
}

/** Extended header before an entry whose path or link target does not fit into its plain header. */
function longNames({ path, content, kind }: TarEntry, seconds: number): Uint8Array[] {
  const names: (readonly [string, Uint8Array])[] = [["path", pathBytes(path)]];
  if (kind === "symlink") names.push(["linkpath", bytesOf(content)]);
  const records = names.filter(([, value]) => value.length > LONGEST_PATH).map(record);
  if (records.length === 0) return [];
  const all = Buffer.concat(records);
  const entry = { path: "names", mode: 0o644, uid: 0, gid: 0, content: "", kind: "names" } as const;
  return [header(entry, all.length, seconds), ...padded(all)];
}

/** `25 path=...` and a newline; the number is the length of the record, its own digits included. */
function record([name, value]: readonly [string, Uint8Array]): Uint8Array {
  const rest = ` ${name}=`.length + value.length + 1;
  let length = rest + String(rest).length;
  if (rest + String(length).length !== length) length = rest + String(length).length;
  return Uint8Array.from([...encoder.encode(`${length} ${name}=`), ...value, 10]);
}

/** The header of one entry in the format `ustar`. */
function header(
  { path, mode, uid, gid, content, kind = "file" }: Omit<TarEntry, "kind"> & {
    readonly kind?: keyof typeof TYPES;
  },
  size: number,
  seconds: number,
): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const text = (at: number, value: string) => block.set(encoder.encode(value), at);
  const octal = (at: number, length: number, value: number) =>
    text(at, value.toString(8).padStart(length - 1, "0"));
  block.set(pathBytes(path).subarray(0, LONGEST_PATH), 0);
  octal(100, 8, mode);
  octal(108, 8, uid);
  octal(116, 8, gid);
  octal(124, 12, size);
  octal(136, 12, seconds);
  text(148, " ".repeat(8));
  text(156, TYPES[kind]);
  if (kind === "symlink") block.set(bytesOf(content).subarray(0, LONGEST_PATH), 157);
  text(257, "ustar\u000000");
  // The checksum counts its own field as spaces.
  const sum = block.reduce((total, byte) => total + byte, 0);
  text(148, `${sum.toString(8).padStart(6, "0")}\u0000 `);
  return block;
}
