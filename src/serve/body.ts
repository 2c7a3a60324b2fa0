import { errors, parseJson, requestError, StackwrightError, strictUtf8 } from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import type { BodyBudget } from "./body_budget.ts";
import type { HttpRequest } from "./http_request.ts";

/** Longest time a client may take to send a body, in milliseconds. */
export const BODY_TIME_LIMIT_MS = 30_000;

const UNREADABLE = "failed to decode json in body";

/** Limits for reading a body. */
export interface BodyLimits {
  /** Most bytes a body may have. */
  readonly maxPayload: number;
  readonly clock: Clock;
  /** Memory that all incoming bodies share; absent for no limit. */
  readonly budget?: BodyBudget;
}

/**
 * Reads the body of a request as one JSON value, whatever its content type says. An empty body gives
 * `empty`, if that is set. May be called once.
 *
 * Throws `payload_too_large` when it is longer than allowed, whether or not the client said so, and
 * `bad_request` when it is empty, no UTF-8, not exactly one JSON value, or too slow; `cancelled`
 * when the client went away.
 */
export async function readJson(
  request: HttpRequest,
  limits: BodyLimits,
  empty?: unknown,
): Promise<unknown> {
  const bytes = await readBytes(request, limits);
  if (bytes.length === 0 && empty !== undefined) return empty;
  if (bytes.length === 0) throw requestError(UNREADABLE, "the body is empty");
  const text = strictUtf8(bytes);
  if (text === undefined) throw requestError(UNREADABLE, "the body is not UTF-8");
  const value = parseJson(text);
  if (value !== undefined) return value;
  throw requestError(UNREADABLE, "the body is not exactly one JSON value");
}

/**
 * Reads the bytes of a body; empty without one. `error` is the text of a refusal. May be called once.
 * Throws `payload_too_large`, `bad_request` when the body is too slow, and `cancelled`, also when the
 * {@link BodyBudget} was exceeded and this body was dropped.
 */
export async function readBytes(
  request: HttpRequest,
  limits: BodyLimits,
  error = UNREADABLE,
): Promise<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > limits.maxPayload) {
    throw tooLarge(limits.maxPayload, error);
  }
  const share = limits.budget?.open();
  const timer = new AbortController();
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  share?.onDrop(reject);
  limits.clock.sleep(BODY_TIME_LIMIT_MS, timer.signal).then(
    () => reject(requestError(error, `the body took longer than ${BODY_TIME_LIMIT_MS / 1000} s`)),
    () => {},
  );
  try {
    const bytes = await Promise.race([request.bytes(share, limits.maxPayload), givenUp]);
    if (bytes.length > limits.maxPayload) throw tooLarge(limits.maxPayload, error);
    return bytes;
  } catch (failure) {
    if (failure instanceof StackwrightError) throw failure;
    throw errors.cancelled("the client went away", { cause: failure });
  } finally {
    share?.close();
    // A reason avoids the costly default exception with its stack for each request.
    timer.abort(null);
  }
}

function tooLarge(most: number, error: string): StackwrightError {
  return requestError(
    error,
    `the body is larger than ${most} bytes (MAX_PAYLOAD_SIZE)`,
    "payload_too_large",
  );
}
