import { type Command, type Commands, systemCommands } from "../../src/system/mod.ts";
import { StackwrightError } from "../../src/model/mod.ts";

/** One failure of git, at the `at`-th command (from 1). */
export interface GitFault {
  /**
   * `error` ends it with an error and does nothing; `timeout` gives it up; `cut` lets it do its work
   * and loses the answer, as when it is killed at its end.
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
      if (fault?.kind === "timeout") {
        throw new StackwrightError("timeout", "git did not end in time (broken by the test)");
      }
      if (fault?.kind === "cut") await inner.run(command, signal);
      const stderr = "fatal: broken by the test";
      return { code: fault?.kind === "cut" ? 137 : 128, stdout: new Uint8Array(), stderr };
    },
    start(command) {
      if (!isBroken(command)) return inner.start(command);
      return inner.start({ ...command, argv: ["false"] });
    },
  };
}

function isGit({ argv }: Command): boolean {
  return argv.some((word) => word === "git" || word.endsWith("/git"));
}
