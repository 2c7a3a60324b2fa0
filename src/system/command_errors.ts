import { errors, messageOf, StackwrightError } from "../model/mod.ts";
import type { Command } from "./command.ts";

/** The error of a program that could not be started. */
export function notStarted(command: Command, cause: unknown): StackwrightError {
  const program = command.argv[0];
  const isTooLong = (cause as { readonly code?: unknown } | undefined)?.code === "E2BIG" ||
    /argument list too long/i.test(messageOf(cause));
  const advice = isTooLong
    ? "its arguments and variables are longer than the system takes"
    : "is it installed and on PATH?";
  return errors.command_failed(`could not start ${program}: ${messageOf(cause)}; ${advice}`, {
    cause,
  });
}

/** The error of a program that took too long. */
export function timedOut(command: Command): StackwrightError {
  const what = command.argv.slice(0, 3).join(" ");
  return errors.timeout(`${what} did not end within ${command.timeoutMs} ms`);
}

/** The error of a program that printed more than it may. */
export function printsTooMuch({ argv, mostBytes }: Command): StackwrightError {
  const what = argv.slice(0, 3).join(" ");
  return errors.payload_too_large(
    `${what} was ended: it printed more than ${mostBytes} bytes; make what it was given smaller`,
  );
}

const TOOK_TOO_MUCH: unique symbol = Symbol("took too much memory");

/** True for the error of a program that took more memory than it may, by itself or with others. */
export function isOfMemory(error: unknown): boolean {
  return error instanceof StackwrightError && error.cause === TOOK_TOO_MUCH;
}

/** The error of a program that took more memory than it may. */
export function tookTooMuch({ argv, mostMemory, sharedMemory }: Command): StackwrightError {
  const what = argv.slice(0, 3).join(" ");
  const others = sharedMemory === undefined ? "" : ", or the most of those that share theirs";
  return errors.payload_too_large(
    `${what} was ended: it took more than ${mostMemory} bytes of memory${others}; make what it was ` +
      "given smaller",
    { cause: TOOK_TOO_MUCH },
  );
}

/** The error of a program that wrote more than it may. */
export function growsTooMuch({ argv, mostGrowth }: Command): StackwrightError {
  return errors.payload_too_large(
    `${argv[0]} was ended: it wrote more than ${mostGrowth?.mostBytes} bytes below ` +
      `${mostGrowth?.directory}; make what it was given smaller`,
  );
}
