import { Buffer } from "node:buffer";
import { open } from "node:fs/promises";
import { becomeProgram } from "./become_program.ts";
import type { Command, CommandResult, Commands, Confinement } from "./command.ts";
import { confineThread, type Kept, landlockHere } from "./landlock.ts";

/** First word of the command line of a process that confines itself and becomes a program. */
export const CONFINED = "confined-program";

/** What stands between the paths and the program. */
const END = "--";

/**
 * Beginning of the names by which a process that is to become a program gets that one's variables. Some
 * of these are a repository's, and our runtime, its allocator and the loader obey many names. None of
 * them is on a command line, which everybody on the machine can read.
 */
const GIVEN = "STACKWRIGHT_GIVEN_";

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
 * them. Where it crashes before, it is started once more.
 */
export function confiningCommands(commands: Commands, self: string): Commands {
  let landlock: Promise<Confinement> | undefined;
  const confinement = async (program: string): Promise<Confinement> => {
    if (!program.startsWith("/")) {
      return { why: `which program ${program} starts, as its plugin, is not known` };
    }
    // Somebody put it there to start programs: that is what it is for.
    if (await isScript(program)) return { why: `${program} is a script, which starts programs` };
    return await (landlock ??= landlockHere());
  };
  const confined = async (command: Command): Promise<Command> => {
    const { argv: [program], mayRead } = command;
    if (mayRead === undefined || "why" in await confinement(program)) return command;
    const { mostMemory, mostProcessorSeconds, mostFileBytes } = command;
    const limits = JSON.stringify({ mostMemory, mostProcessorSeconds, mostFileBytes });
    return {
      ...command,
      env: Object.fromEntries(
        Object.entries(command.env).map(([name, value]) => [GIVEN + name, value]),
      ),
      startedBy: [self, CONFINED, limits, ...new Set(mayRead), END],
    };
  };
  return {
    confinement,
    run: async (command, signal) => {
      const started = await confined(command);
      const run = () => commands.run(started, signal);
      return await (started.startedBy === undefined ? run() : twiceAtMost(run, command.argv[0]));
    },
    start: (command) => commands.start(command),
  };
}

/**
 * Confines this process to what words after {@link CONFINED} say, and becomes the program, with the
 * variables that `env` has for it. Limits come last: within them Bun compiles nothing, and calls no
 * kernel. Returns the exit code, and tells why, where that cannot be.
 */
export async function becomeConfined(
  words: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  tell: (text: string) => unknown,
): Promise<number> {
  const end = words.indexOf(END);
  const [limits = "{}", ...paths] = words.slice(0, end);
  const [program = "", ...rest] = words.slice(end + 1);
  const kept = (rights: Kept["rights"], places: readonly string[]) =>
    places.map((path): Kept => ({ path, rights }));
  const given = Object.entries(env).flatMap(([name, value = ""]) =>
    name.startsWith(GIVEN) ? [[name.slice(GIVEN.length), value]] : []
  );
  try {
    await confineThread([
      ...kept("read", [...LIBRARIES, ...paths]),
      ...kept("execute", [program, ...LOADERS]),
      ...kept("write", ["/dev/null"]),
    ]);
    return await becomeProgram([program, ...rest], Object.fromEntries(given), JSON.parse(limits));
  } catch (error) {
    tell(`stackwright: cannot start ${program} confined: ${error}\n`);
    return 126;
  }
}

/** The result of `run`; of another run where this program crashed before it became `program`. */
export async function twiceAtMost(
  run: () => Promise<CommandResult>,
  program: string,
): Promise<CommandResult> {
  const result = await run();
  if (!hasCrashed(result)) return result;
  const again = await run();
  const stderr = `this program crashed twice before it became ${program} (${again.code})`;
  return hasCrashed(again) ? { ...again, stderr } : again;
}

/**
 * Whether our runtime crashed in the process that was to become a program: its other threads may ask for
 * memory once that is limited. It prints a page of itself then.
 */
function hasCrashed({ code, stdout, stderr }: CommandResult): boolean {
  return code > 128 && stdout.length === 0 && /^Bun v\d/m.test(stderr);
}

/** Whether a file begins as scripts do; what is not there or cannot be read fails when it is started. */
async function isScript(path: string): Promise<boolean> {
  try {
    const file = await open(path);
    try {
      const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0);
      return buffer.toString() === "#!";
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}
