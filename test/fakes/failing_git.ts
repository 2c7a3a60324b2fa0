import { type Command, type Commands, systemCommands } from "../../src/system/mod.ts";

/** One failure of git, at the `at`-th command (from 1). */
export interface GitFault {
  /**
   * `error` ends it with an error and does nothing; `timeout` hangs, and is killed at a limit that is
   * shorter than the one it was given; `cut` lets it do its work and loses the answer, as when it is
   * killed at its end.
   */
  readonly kind: "error" | "timeout" | "cut";
  readonly at: number;
}

/** Runs programs, counts those that are git, and breaks one of them. */
export interface FailingGit extends Commands {
  /** Git commands since the last reset. */
  readonly count: number;
  /** Starts counting anew, with another fault or none. */
  reset(fault?: GitFault): void;
}

/** Real programs behind a fault. */
export function createFailingGit(inner: Commands = systemCommands): FailingGit {
  let count = 0;
  let fault: GitFault | undefined;
  const isBroken = (command: Command) => isGit(command) && ++count === fault?.at;
  return {
    get count() {
      return count;
    },
    reset(next) {
      count = 0;
      fault = next;
    },
    async run(command, signal) {
      if (!isBroken(command)) return await inner.run(command, signal);
      if (fault?.kind === "timeout") return await inner.run(hanging(command), signal);
      if (fault?.kind === "cut") await inner.run(command, signal);
      const stderr = "fatal: broken by the test";
      return { code: fault?.kind === "cut" ? 137 : 128, stdout: new Uint8Array(), stderr };
    },
    start(command) {
      if (!isBroken(command)) return inner.start(command);
      const argv = fault?.kind === "timeout" ? HANGS : ["false"] as const;
      return inner.start({ ...command, argv: [...argv] });
    },
  };
}

const HANGS = ["sleep", "100000"] as const;
/** How long a hanging git is waited for here, in milliseconds. */
const PATIENCE_MS = 200;

/** Never ends by itself. A command that brings no limit would hang for ever, and so does this one. */
function hanging(command: Command): Command {
  const limit = command.timeoutMs === undefined ? {} : { timeoutMs: PATIENCE_MS };
  return { ...command, argv: [...HANGS], ...limit };
}

function isGit({ argv }: Command): boolean {
  return argv.some((word) => word === "git" || word.endsWith("/git"));
}
