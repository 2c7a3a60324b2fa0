import { type RunTarget, WAITS_FOR_JOBS, WAITS_FOR_PROCESS } from "../model/mod.ts";
import type { CommandIo } from "./io.ts";

/** Shows the progress of a command to a waiting person. */
interface LiveProgress {
  /** Shows a step of the command as a whole. */
  step(text: string): void;
  /** Shows a step of one stack. */
  stack(name: string, text: string): void;
  /** Shows the result of a target, or its current step. */
  target(entry: RunTarget): void;
}

/**
 * Lines on standard error while a command works, one a step. When nobody watches, only those that say
 * why it does nothing: that another process or a job is at work; and none beside `--json`, whose errors are JSON.
 */
export function liveProgress(io: CommandIo): LiveProgress {
  const last = new Map<string, string>();
  const isQuiet = io.args.includes("--json");
  const waits = [WAITS_FOR_PROCESS, WAITS_FOR_JOBS];
  const isTold = (text: string) =>
    io.interactive || !isQuiet && waits.some((each) => text.startsWith(each));
  const say = (subject: string, text: string) => {
    if (text === "" || last.get(subject) === text || !isTold(text)) return;
    last.set(subject, text);
    io.err(subject === "" ? `${text}\n` : `${subject}: ${text}\n`);
  };
  return {
    step: (text) => say("", text),
    stack: say,
    target({ stack, status, message = "" }) {
      const isUnderWay = status === "pending" || status === "running";
      say(stack, isUnderWay ? message : status);
    },
  };
}
