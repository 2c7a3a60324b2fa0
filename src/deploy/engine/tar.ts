import type { InjectedFile } from "./injected_files.ts";

const BLOCK = 512;
/** Bytes of a path that a plain header has room for. */
export const LONGEST_PATH = 100;

const encoder = new TextEncoder();

/** An archive of files, as the engine unpacks it at `/`; `seconds` since 1970 is when they changed. */
export function tarOf(files: readonly InjectedFile[], seconds: number): Uint8Array {
  const parts = files.flatMap((file) => {
    const content = encoder.encode(file.content);
    const padding = new Uint8Array((BLOCK - content.length % BLOCK) % BLOCK);
    return [header(file, content.length, seconds), content, padding];
  });
  const end = new Uint8Array(2 * BLOCK);
  const all = [...parts, end];
  const archive = new Uint8Array(all.reduce((sum, each) => sum + each.length, 0));
  let at = 0;
  for (const part of all) {
    archive.set(part, at);
    at += part.length;
  }
  return archive;
}

/** Bytes of a file's path in an archive, which begins without a slash. */
export function pathBytes(path: string): Uint8Array {
  return encoder.encode(path.replace(/^\/+/, ""));
}

/** The header of one file in the format `ustar`. */
function header({ path, mode, uid, gid }: InjectedFile, size: number, seconds: number): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const text = (at: number, value: string) => block.set(encoder.encode(value), at);
  const octal = (at: number, length: number, value: number) =>
    text(at, value.toString(8).padStart(length - 1, "0"));
  block.set(pathBytes(path), 0);
  octal(100, 8, mode);
  octal(108, 8, uid);
  octal(116, 8, gid);
  octal(124, 12, size);
  octal(136, 12, seconds);
  text(148, " ".repeat(8));
  text(156, "0");
  text(257, "ustar\u000000");
  // The sum over the header counts its own field as spaces.
  const sum = block.reduce((total, byte) => total + byte, 0);
  text(148, `${sum.toString(8).padStart(6, "0")}\u0000 `);
  return block;
}
