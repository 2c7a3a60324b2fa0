import process from "node:process";

/** The C library of the machine. */
export interface Library {
  /** Asks the kernel; absent numbers are 0. */
  readonly syscall: (...numbers: bigint[]) => bigint;
  /** Why the kernel refused the last call, as a number; see `errno.h`. */
  readonly refusal: () => number;
  /** The address of bytes, for as long as these are not collected. */
  readonly address: (bytes: Uint8Array) => bigint;
}

/** The machine, where its numbers of calls are known. */
export function machine(): "x64" | "arm64" | undefined {
  const { platform, arch } = process;
  return platform === "linux" && (arch === "x64" || arch === "arm64") ? arch : undefined;
}

/** Numbers of some bytes each, one after the other, as the machine has them. */
export function bytesOf(fields: readonly (readonly [size: 4 | 8, value: bigint])[]): Uint8Array {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 8) view.setBigUint64(at, value, true);
    else view.setInt32(at, Number(value), true);
    at += size;
  }
  return bytes;
}

/** Where the C library lies: a name without a place may be looked for in the working directory as well. */
const LIBRARIES = [
  "/lib/x86_64-linux-gnu/libc.so.6",
  "/lib/aarch64-linux-gnu/libc.so.6",
  "/lib64/libc.so.6",
  "/usr/lib/libc.so.6",
  "/lib/libc.musl-x86_64.so.1",
  "/lib/libc.musl-aarch64.so.1",
] as const;
const SIX = ["i64", "i64", "i64", "i64", "i64", "i64"] as const;

/** Opens the C library by Bun's module `bun:ffi`, of which Deno knows no types. */
export async function openLibrary(): Promise<Library> {
  const module = "bun:ffi";
  const { dlopen, ptr, read } = await import(module);
  let last: unknown;
  for (const name of LIBRARIES) {
    try {
      const { symbols } = dlopen(name, {
        syscall: { args: SIX, returns: "i64" },
        __errno_location: { args: [], returns: "ptr" },
      });
      return {
        syscall: (...numbers) => symbols.syscall(...SIX.map((_, at) => numbers[at] ?? 0n)),
        refusal: () => read.i32(symbols.__errno_location()),
        address: (bytes) => BigInt(ptr(bytes)),
      };
    } catch (error) {
      last = error;
    }
  }
  throw last;
}
