import { Buffer } from "node:buffer";
import process from "node:process";
import type { Command, Commands } from "./command.ts";
import { canConfine, confineThread, type Kept } from "./landlock.ts";
import { systemFiles } from "./system_files.ts";

/** First word of the command line of a process that confines itself and becomes a program. */
export const CONFINED = "confined-program";

/** What stands between the paths and the program. */
const END = "--";

/** Libraries, and what the dynamic loader reads. No program lies there that a compose file could name. */
const LIBRARIES = [
  ...["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib"],
  ...["/nix/store", "/gnu/store", "/etc/ld.so.cache", "/etc/ld.so.preload"],
];

/** Loaders of programs, which the kernel starts with them, and where programs are wrapped by programs. */
const LOADERS = [
  ...["/nix/store", "/gnu/store"],
  ...["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"],
  ...["/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"],
];

/**
 * Runs programs as `commands` do, but those that say what they may read ({@link Command.mayRead}) confined
 * to that by the kernel, where it can: `self`, the executable of this program, confines itself and becomes
 * them.
 */
export function confiningCommands(commands: Commands, self: string): Commands {
  let isPossible: Promise<boolean> | undefined;
  const confined = async (command: Command): Promise<Command> => {
    const { argv, mayRead } = command;
    // Which program a name without a path leads to is not known here.
    if (mayRead === undefined || !argv[0].startsWith("/")) return command;
    if (!await (isPossible ??= canConfine())) return command;
    return { ...command, startedBy: [self, CONFINED, argv[0], ...new Set(mayRead), END] };
  };
  return {
    run: async (command, signal) => await commands.run(await confined(command), signal),
    start: (command) => commands.start(command),
  };
}

/**
 * Confines this process to what words after {@link CONFINED} say, and becomes the program. Bounds on memory
 * come after it: within them Bun compiles nothing, and calls no kernel. Returns the exit
 * code, and tells why, where that cannot be.
 */
export async function becomeConfined(
  words: readonly string[],
  tell: (text: string) => unknown,
): Promise<number> {
  const end = words.indexOf(END);
  const [own = "", ...paths] = words.slice(0, end);
  // What bounds it becomes it in turn.
  const [program = "", ...rest] = words.slice(end + 1);
  const kept = (rights: Kept["rights"], places: readonly string[]) =>
    places.map((path): Kept => ({ path, rights }));
  try {
    // A script that somebody put in its place starts programs: that is what it is for.
    if (!await isScript(own)) {
      await confineThread([
        ...kept("read", [...LIBRARIES, ...paths]),
        ...kept("execute", [own, program, ...LOADERS]),
        ...kept("write", ["/dev/null"]),
      ]);
    }
    process.execve?.(program, [program, ...rest], process.env as Record<string, string>);
    throw new Error("this runtime cannot replace itself by another program");
  } catch (error) {
    tell(`stackwright: cannot start ${program} confined: ${error}\n`);
    return 126;
  }
}

async function isScript(path: string): Promise<boolean> {
  for await (const piece of systemFiles.readInPieces(path)) {
    return Buffer.from(piece.subarray(0, 2)).toString() === "#!";
  }
  return false;
}
