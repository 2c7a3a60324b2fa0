/** Every failure that can be reported: callers branch on the code, people read the message. */
export const ERROR_CODES = [
  "address_unusable",
  "bad_request",
  "build_failed",
  "cancelled",
  "command_failed",
  "config_invalid",
  "config_not_found",
  "conflict",
  "data_dir_unusable",
  "deploy_failed",
  "engine_refused",
  "engine_unreachable",
  "forbidden",
  "http_failed",
  "internal",
  "ledger_unusable",
  "not_found",
  "overloaded",
  "path_escapes",
  "payload_too_large",
  "pull_failed",
  "reference_not_found",
  "render_failed",
  "repository_denied",
  "repository_unreachable",
  "secret_unresolved",
  "settings_invalid",
  "shutting_down",
  "source_invalid",
  "timeout",
  "unauthorized",
  "unhealthy",
  "unsupported",
] as const;

/** One member of {@link ERROR_CODES}. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/**
 * One fault in a text that a person wrote, with its position.
 *
 * `line` and `column` are 1-based and absent where the text has no lines (an environment variable).
 * `document` is the 1-based number of the YAML document inside the file.
 */
export interface Problem {
  readonly file: string;
  readonly document?: number;
  readonly line?: number;
  readonly column?: number;
  /** Dotted key path, for example `build.args` or `deployments[0].name`. */
  readonly path?: string;
  /** What was expected and what is there instead. */
  readonly message: string;
}

/** Details of an error besides code and message. */
interface ErrorDetails {
  /** The lower-level failure; kept for logs, never shown whole to a client. */
  readonly cause?: unknown;
  /**
   * What clients of the API are told instead of the message, where that repeats what they sent or
   * names an address. Masked in an answer, their own words would tell them that they are a secret.
   */
  readonly told?: string;
  /** Every problem of an input that was refused, in reading order. */
  readonly problems?: readonly Problem[];
  /** Whether the work took much of the machine, or was ended for it: trying it again takes as much. */
  readonly tookTooMuch?: boolean;
  /** Name of the repository whose texts it may quote, where the work is about several. */
  readonly source?: string;
}

/**
 * The only error class. A message says what was tried, on what, what the state is now, and what to
 * do. It never contains a secret, because messages reach logs, runs and HTTP answers.
 */
export class StackwrightError extends Error {
  override readonly name = "StackwrightError";
  readonly code: ErrorCode;
  /** The message for clients of the API. */
  readonly told: string;
  readonly problems: readonly Problem[];
  readonly tookTooMuch: boolean;
  readonly source: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.told = details.told ?? message;
    this.problems = details.problems ?? [];
    this.tookTooMuch = details.tookTooMuch ?? false;
    this.source = details.source;
  }
}

/** Makes an error by its code: `throw errors.conflict("…")`. */
export const errors = Object.fromEntries(
  ERROR_CODES.map((code) => [
    code,
    (message: string, details?: ErrorDetails) => new StackwrightError(code, message, details),
  ]),
) as Readonly<Record<ErrorCode, (message: string, details?: ErrorDetails) => StackwrightError>>;

/** What was thrown over the source of one repository; an error of ours names it then. */
export function ofSource(error: unknown, source: string): unknown {
  if (!(error instanceof StackwrightError)) return error;
  const { code, message, cause, told, problems, tookTooMuch } = error;
  return new StackwrightError(code, message, { cause, told, problems, tookTooMuch, source });
}

/** An error about one part of a request, with a stable message and an explaining sentence. */
export function requestError(
  message: string,
  detail: string,
  code: ErrorCode = "bad_request",
): StackwrightError {
  return new StackwrightError(code, message, { problems: [{ file: "request", message: detail }] });
}

/** True when `error` is a {@link StackwrightError} with one of `codes` (by default any code). */
export function isStackwrightError(
  error: unknown,
  ...codes: ErrorCode[]
): error is StackwrightError {
  return error instanceof StackwrightError && (codes.length === 0 || codes.includes(error.code));
}

/**
 * Turns anything thrown into a {@link StackwrightError}.
 *
 * One of these stays as it is, any other abort becomes `cancelled`, and everything else becomes
 * `internal`, with `doing` ("reading the ledger") as the start of its message.
 */
export function toStackwrightError(error: unknown, doing: string): StackwrightError {
  if (error instanceof StackwrightError) return error;
  if (error instanceof Error && error.name === "AbortError") {
    return new StackwrightError("cancelled", `${doing} was cancelled`, { cause: error });
  }
  return new StackwrightError("internal", `${doing} failed: ${messageOf(error)}`, { cause: error });
}

/** The message of anything that was thrown, without a stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** One problem as a line of text: `file:line:column: path: message`. */
export function formatProblem(problem: Problem): string {
  const position = problem.line === undefined ? "" : `:${problem.line}:${problem.column ?? 1}`;
  const document = problem.document === undefined || problem.document === 1
    ? ""
    : ` (document ${problem.document})`;
  const path = problem.path === undefined || problem.path === "" ? "" : `${problem.path}: `;
  return `${problem.file}${position}${document}: ${path}${problem.message}`;
}
