import type { RunTarget } from "../model/mod.ts";
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

/** Lines on standard error while a command works, one a step; silent when nobody watches. */
export function liveProgress(io: CommandIo): LiveProgress {
  const last = new Map<string, string>();
  const say = (subject: string, text: string) => {
    if (!io.interactive || text === "" || last.get(subject) === text) return;
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
