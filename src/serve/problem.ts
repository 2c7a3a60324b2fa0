import { type ErrorCode, formatProblem, isStackwrightError, type Problem } from "../model/mod.ts";

/** The answer to a failed request. */
export interface Refusal {
  readonly status: number;
  /** Short and stable. */
  readonly error: string;
  /** The detail, when there is one. */
  readonly content?: string;
  /** Seconds after which asking again makes sense, for the header `Retry-After`. */
  readonly retryAfter?: number;
}

interface Rule {
  readonly status: number;
  /** The stable text; when absent, the message is the text, and the problems are the detail. */
  readonly error?: string;
  readonly retryAfter?: number;
}

/** The one place that knows which HTTP status an error has. */
const RULES: Readonly<Record<ErrorCode, Rule>> = {
  address_unusable: { status: 500, error: "the address cannot be listened on" },
  bad_request: { status: 400 },
  build_failed: { status: 500, error: "build failed" },
  cancelled: { status: 503 },
  command_failed: { status: 500, error: "a program failed" },
  config_invalid: { status: 500, error: "the configuration is invalid" },
  config_not_found: { status: 500, error: "there is no configuration" },
  conflict: { status: 409 },
  data_dir_unusable: { status: 500, error: "the data directory cannot be used" },
  deploy_failed: { status: 500, error: "deployment failed" },
  engine_refused: { status: 500, error: "the container engine refused" },
  engine_unreachable: { status: 500, error: "the container engine cannot be reached" },
  forbidden: { status: 403 },
  http_failed: { status: 500, error: "another server gave no usable answer" },
  internal: { status: 500, error: "internal error" },
  ledger_unusable: { status: 500, error: "the ledger cannot be used" },
  not_found: { status: 404 },
  overloaded: { status: 503, retryAfter: 60 },
  path_escapes: { status: 500, error: "a path leaves its source" },
  payload_too_large: { status: 413 },
  pull_failed: { status: 500, error: "image pull failed" },
  reference_not_found: { status: 500, error: "reference not found" },
  render_failed: { status: 500, error: "the compose files cannot be rendered" },
  repository_denied: { status: 500, error: "the repository refuses access" },
  repository_unreachable: { status: 500, error: "the repository cannot be reached" },
  secret_unresolved: { status: 500, error: "an external secret could not be read" },
  settings_invalid: { status: 500, error: "the settings are invalid" },
  shutting_down: { status: 503 },
  source_invalid: { status: 500, error: "the source cannot be used" },
  timeout: { status: 500, error: "it took too long" },
  unauthorized: { status: 401 },
  unhealthy: { status: 500, error: "services are not healthy" },
  unsupported: { status: 409 },
};

/** The HTTP status of an error. */
export function statusOf(code: ErrorCode): number {
  return RULES[code].status;
}

/** The refusal for anything that was thrown; of bugs and foreign errors it says nothing. */
export function refusalOf(error: unknown): Refusal {
  if (!isStackwrightError(error) || error.code === "internal") {
    return { status: RULES.internal.status, error: RULES.internal.error ?? "" };
  }
  const rule = RULES[error.code];
  const details = error.problems.map(problemText).join("; ");
  if (rule.error !== undefined) {
    return { status: rule.status, error: rule.error, content: details || error.told };
  }
  return {
    status: rule.status,
    error: error.told,
    ...(rule.retryAfter === undefined ? {} : { retryAfter: rule.retryAfter }),
    ...(details === "" ? {} : { content: details }),
  };
}

/** A problem without its file, which is the request itself. */
function problemText(problem: Problem): string {
  return formatProblem(problem).slice(`${problem.file}: `.length);
}
