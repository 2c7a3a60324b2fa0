import {
  clip,
  type ErrorCode,
  formatProblem,
  isStackwrightError,
  type Problem,
  StackwrightError,
} from "../model/mod.ts";
import type { Position } from "./located.ts";

/** Says that the value at a dotted key path breaks a rule. */
export type Report = (path: string, message: string) => void;

/** Problems kept of one input; more tell a reader nothing new. */
export const MOST_PROBLEMS = 100;
const LONGEST_MESSAGE = 300;

/**
 * Collects everything that is wrong with one input, so that its author sees all of it at once.
 *
 * `prefix` is put before every key path: `[0].deployments[1]` for an inline deployment.
 */
export class ProblemSink {
  readonly #found: Problem[] = [];
  readonly file: string;
  readonly document: number | undefined;
  readonly #prefix: string;

  constructor(
    file: string,
    options: { readonly document?: number; readonly prefix?: string } = {},
  ) {
    this.file = file;
    this.document = options.document;
    this.#prefix = options.prefix ?? "";
  }

  /** Everything found so far, in reading order of the rules. */
  get problems(): readonly Problem[] {
    return this.#found;
  }

  get clean(): boolean {
    return this.#found.length === 0;
  }

  /** Adds problems of a part that was read with a sink of its own. */
  take(problems: readonly Problem[]): void {
    this.#found.push(...problems.slice(0, MOST_PROBLEMS - this.#found.length));
  }

  /** Records one problem; `path` is relative to the prefix and may be empty. */
  add(at: Position | undefined, path: string, message: string): void {
    if (this.#found.length >= MOST_PROBLEMS) return;
    const full = joinPath(this.#prefix, path);
    this.#found.push({
      file: this.file,
      ...(this.document === undefined ? {} : { document: this.document }),
      ...(at === undefined ? {} : { line: at.line, column: at.column }),
      ...(full === "" ? {} : { path: clip(full, LONGEST_MESSAGE) }),
      message: clip(message, LONGEST_MESSAGE),
    });
  }
}

/** Joins two key paths: `a` and `b` are `a.b`, `a` and `[0]` are `a[0]`. */
export function joinPath(parent: string, key: string): string {
  if (parent === "" || key === "" || key.startsWith("[")) return parent + key;
  return `${parent}.${key}`;
}

/** The error for an input with problems: the first one in the message, the first 100 inside. */
export function invalidInput(
  what: string,
  problems: readonly Problem[],
  code: ErrorCode = "config_invalid",
): StackwrightError {
  const [first] = problems;
  const more = problems.length - 1;
  const rest = more > 0 ? ` (and ${more} more ${more === 1 ? "problem" : "problems"})` : "";
  const detail = first === undefined ? "it cannot be used" : formatProblem(first);
  const kept = problems.slice(0, MOST_PROBLEMS);
  return new StackwrightError(code, `${what} is invalid: ${detail}${rest}`, { problems: kept });
}

/** The problems of an input that is invalid. Throws any other error. */
export function problemsIn(error: unknown): readonly Problem[] {
  if (!isStackwrightError(error, "config_invalid")) throw error;
  return error.problems;
}
