import { Buffer } from "node:buffer";
import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { utf8 } from "../model/mod.ts";
import { MOST_GIVEN, tooLarge } from "./files.ts";

/** Bytes that are read at once, and most bytes of a file of /proc. */
const [PIECE_BYTES, MOST_OF_PROC] = [8192, 1024 * 1024] as const;

/** The text of a file, at once: only for settings, which are read before anything else runs. */
export function readFileNow(path: string): string {
  return textNow(path, MOST_GIVEN);
}

/** The trimmed text of a file of /proc, at once; empty where there is none. */
export function procTextNow(path: string): string {
  try {
    return textNow(path, MOST_OF_PROC).trim();
  } catch {
    return "";
  }
}

function textNow(path: string, mostBytes: number): string {
  const pieces: Uint8Array[] = [];
  let room = new Uint8Array();
  const file = openSync(path, "r");
  try {
    for (let length = 0, read = -1; read !== 0; length += read) {
      // Files of /proc are small and read often: the read that finds the end gets no piece of its own.
      if (room.length === 0) room = new Uint8Array(PIECE_BYTES);
      read = readSync(file, room, 0, room.length, null);
      if (length + read > mostBytes) throw tooLarge(path, mostBytes);
      pieces.push(room.subarray(0, read));
      room = room.subarray(read);
    }
    return utf8(Buffer.concat(pieces));
  } finally {
    closeSync(file);
  }
}

/** True when there is anything at a path, at once: for what other work may not interrupt. */
export function existsNow(path: string): boolean {
  return existsSync(path);
}

/** What is the same for all paths to the file at a path, at once; `undefined` where there is none. */
export function identityNow(path: string): string | undefined {
  const info = statSync(path, { bigint: true, throwIfNoEntry: false });
  return info && `${info.dev}:${info.ino}`;
}

/** Puts a file in the place of another, which need not be there, at once; see {@link existsNow}. */
export function replaceNow(from: string, to: string): void {
  renameSync(from, to);
}

/** Removes a file, at once; nothing there is fine. See {@link existsNow}. */
export function removeNow(path: string): void {
  rmSync(path, { force: true });
}

/** Names in a directory, at once; see {@link existsNow}. */
export function namesNow(path: string): string[] {
  return readdirSync(path);
}

/** Sets the permissions of a file, at once, unless it is another user's; see {@link existsNow}. */
export function chmodNow(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch {
    // That is not ours to change.
  }
}
