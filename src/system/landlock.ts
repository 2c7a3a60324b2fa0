import { Buffer } from "node:buffer";
import { bytesOf, type Library, machine, openLibrary } from "./c_library.ts";
import type { Confinement } from "./command.ts";

/**
 * The kernel's Landlock (https://docs.kernel.org/userspace-api/landlock.html): a process gives up the
 * files that it was not told to keep, for itself and all that it starts, whatever its user may.
 */

/** What a process may still do below a path. */
export interface Kept {
  readonly path: string;
  readonly rights: "read" | "execute" | "write";
}

/** Numbers of calls, the same on all machines, and of those that x86-64 and arm64 number otherwise. */
const [CREATE_RULESET, ADD_RULE, RESTRICT_SELF] = [444n, 445n, 446n];
const OPENAT = { x64: 257n, arm64: 56n };
const PRCTL = { x64: 157n, arm64: 167n };

const ASKS_VERSION = 1n;
const PATH_BENEATH = 1n;
const NO_NEW_PRIVILEGES = 38n;
const O_PATH_CLOEXEC = 0x280000n;
/** What `openat()` takes for the working directory. */
const AT_WORKING_DIRECTORY = -100n;

/** Bits of the rights, as of the first version: all that is done with files but looking at their names. */
const [EXECUTE, WRITE_FILE, READ_FILE, READ_DIRECTORY] = [1n, 2n, 4n, 8n] as const;
const EVERYTHING = (1n << 13n) - 1n;
const RIGHTS: Readonly<Record<Kept["rights"], bigint>> = {
  read: READ_FILE | READ_DIRECTORY,
  execute: READ_FILE | EXECUTE,
  write: READ_FILE | WRITE_FILE,
};
/** Those that mean something for a file; the kernel refuses the others there. */
const OF_FILES = EXECUTE | WRITE_FILE | READ_FILE;

/** What the kernel says where it does not confine: ENOSYS, EOPNOTSUPP, EPERM and EACCES. */
const FORBIDDEN = "a seccomp profile, as containers have one, forbids Landlock";
const REFUSALS: Readonly<Record<number, string>> = {
  38:
    "the kernel has no Landlock (Linux has it from 5.13 on), or a container's seccomp profile hides it",
  95: "Landlock is switched off in the kernel (its option lsm= names it where it is on)",
  1: FORBIDDEN,
  13: FORBIDDEN,
};

/**
 * Whether processes can confine themselves here: on Linux from 5.13 on, if it is switched on; with Bun, as
 * executables have it.
 */
export async function landlockHere(): Promise<Confinement> {
  if (machine() === undefined) return { why: "only Linux on x86-64 and arm64 is known to confine" };
  let library: Library;
  try {
    library = await openLibrary();
  } catch {
    return { why: "no C library was found that this program can call the kernel by" };
  }
  const version = library.syscall(CREATE_RULESET, 0n, 0n, ASKS_VERSION);
  if (version >= 1) return { abi: Number(version) };
  const refusal = library.refusal();
  return { why: REFUSALS[refusal] ?? `the kernel refuses Landlock (errno ${refusal})` };
}

/**
 * Gives up all files but those kept, for this thread and what it starts or becomes; there is no way back.
 * Paths that are not there are left out.
 *
 * Throws where the kernel refuses; this process must end then.
 */
export async function confineThread(kept: readonly Kept[]): Promise<void> {
  const own = machine();
  if (own === undefined) throw new Error("Landlock is not known on this machine");
  const { syscall, address } = await openLibrary();
  const set = bytesOf([[8, EVERYTHING]]);
  const rules = syscall(CREATE_RULESET, address(set), BigInt(set.length));
  if (rules < 0n) throw new Error("the kernel made no Landlock ruleset");
  for (const { path, rights } of kept) {
    const name = Buffer.from(`${path}\0`);
    const place = syscall(OPENAT[own], AT_WORKING_DIRECTORY, address(name), O_PATH_CLOEXEC);
    if (place < 0n) continue;
    const allow = (access: bigint) => {
      const rule = bytesOf([[8, access], [4, place]]);
      return syscall(ADD_RULE, rules, PATH_BENEATH, address(rule)) >= 0;
    };
    if (allow(RIGHTS[rights]) || allow(RIGHTS[rights] & OF_FILES)) continue;
    throw new Error(`the kernel took no Landlock rule for ${path}`);
  }
  const isAlone = syscall(PRCTL[own], NO_NEW_PRIVILEGES, 1n) >= 0;
  if (!isAlone || syscall(RESTRICT_SELF, rules) < 0) {
    throw new Error("the kernel did not confine this process");
  }
}
