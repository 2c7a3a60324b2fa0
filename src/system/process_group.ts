import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { limited, PRLIMIT } from "./limits.ts";
import type { Command } from "./command.ts";

/** Where `setsid` is found whatever a program's own `PATH` is. */
const SETSID = "/usr/bin/setsid";

/**
 * Whether `setsid` is to make process groups, where it is here. To have Deno make one copies this process
 * first, which at 200 MB takes ten times as long as starting `setsid`; Bun makes one without.
 */
export function needsSetsid(): boolean {
  return !("Bun" in globalThis) && existsSync(SETSID);
}

/** Starts a program in a process group of its own. */
export function launch(command: Command, bySetsid: boolean) {
  const { argv, cwd, env, stdin, startedBy } = command;
  const bounded = startedBy === undefined
    ? limited(argv, command, existsSync(PRLIMIT))
    : [...startedBy, ...argv] as const;
  const [program, ...args] = bySetsid ? [SETSID, ...bounded] as const : bounded;
  return spawn(program, args, {
    cwd,
    env: { ...env },
    detached: !bySetsid,
    stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
}

/**
 * Says that it is there, then waits for a line, which dismisses it; when its input ends without one,
 * this process is dead, and it kills the process group whose id it was given, or the one process that
 * has not made its group yet. A signal to the group of this process must not take it along.
 */
const WATCHER =
  'trap \'\' HUP INT QUIT TERM; echo; read -r _ || kill -KILL "-$1" || kill -KILL "$1"';

/**
 * Has a process group killed when this process dies. The shell that does it stands beside the program:
 * it gets nothing of the program's, neither variables nor arguments.
 */
export function watch(group: number, bySetsid: boolean) {
  const child = launch(
    { argv: ["/bin/sh", "-c", WATCHER, "sh", String(group)], env: {}, stdin: "" },
    bySetsid,
  );
  child.stderr?.resume();
  child.stdin?.on("error", () => {});
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.on("error", reject);
    child.on("exit", () => reject(new Error("what ends it with this process did not start")));
  });
  // Nobody awaits `ready` of a watcher that is dismissed early.
  ready.catch(() => {});
  return { ready, dismiss: () => void child.stdin?.end("\n") };
}

/** Kills a process group; false when there is none, or none any more. */
export function killGroup(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(-pid, "SIGKILL");
    return true;
  } catch {
    // ESRCH: it ended by itself between our decision and the kill.
    return false;
  }
}

/** Kills a program and its group; one without a group yet is `setsid`, about to make it. */
export function killProgram(child: ChildProcess): void {
  if (!killGroup(child.pid)) child.kill("SIGKILL");
}

/**
 * Why `setsid`, of util-linux or of BusyBox, or `prlimit` could not start the program, in the words of
 * the system; `undefined` where the program itself ended like that.
 */
export function whyNotStarted(code: number | null, stderr: string): string | undefined {
  if (code !== 126 && code !== 127) return undefined;
  return /^(?:setsid|prlimit): (?:failed to|can't) execute .*: (.+)/.exec(stderr)?.[1];
}
