import { Buffer } from "node:buffer";
import { errors, parseJson, requestError, StackwrightError, strictUtf8 } from "../model/mod.ts";
import type { Clock } from "../system/mod.ts";
import type { BodyBudget, BodyShare } from "./body_budget.ts";
import type { HttpRequest } from "./http_request.ts";

/** Longest time a client may take to send a body, in milliseconds. */
export const BODY_TIME_LIMIT_MS = 30_000;

const UNREADABLE = "failed to decode json in body";

/** Limits for reading a body. */
export interface BodyLimits {
  /** Most bytes a body may have. */
  readonly maxPayload: number;
  readonly clock: Clock;
  /** What all bodies together may take up while they come in; without one, nothing is counted. */
  readonly budget?: BodyBudget;
}

/**
 * Reads the body of a request as one JSON value, whatever its content type says; an empty one is
 * `empty`, where that is given. May be called once.
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
 * Reads the body of a request as it is; empty when there is none. `error` is what a refusal is called.
 * May be called once. Throws `payload_too_large`, `bad_request` when it is too slow, and `cancelled`,
 * also when it was given up for others (see {@link BodyBudget}).
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
  const { bytes, cancel } = collect(request, { most: limits.maxPayload, error, share });
  const timer = new AbortController();
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  share?.onDrop(reject);
  limits.clock.sleep(BODY_TIME_LIMIT_MS, timer.signal).then(
    () => reject(requestError(error, `the body took longer than ${BODY_TIME_LIMIT_MS / 1000} s`)),
    () => {},
  );
  try {
    return await Promise.race([bytes, givenUp]);
  } catch (failure) {
    // The rest of the body is not wanted; a stream that broke already cannot be cancelled.
    cancel().catch(() => {});
    if (failure instanceof StackwrightError) throw failure;
    throw errors.cancelled("the client went away", { cause: failure });
  } finally {
    share?.close();
    // Nobody looks at the reason, and without one an exception with a stack is made for each request.
    timer.abort(null);
  }
}

/** A body that is being read. */
interface Reading {
  readonly bytes: Promise<Uint8Array>;
  /** Says that the rest is not wanted. */
  cancel(): Promise<void>;
}

interface Collecting {
  /** Most bytes. */
  readonly most: number;
  /** What a refusal is called. */
  readonly error: string;
  readonly share: BodyShare | undefined;
}

/** A body that said how long it is cannot be longer, and the runtime reads it in one go. */
function collect(request: HttpRequest, how: Collecting): Reading {
  const { body, headers } = request;
  if (body === undefined || headers.get("content-length") !== null) {
    return { bytes: whole(request, how), cancel: () => Promise.resolve() };
  }
  if (body === null) {
    return { bytes: Promise.resolve(new Uint8Array()), cancel: () => Promise.resolve() };
  }
  const reader = body.getReader();
  return { bytes: join(reader, how), cancel: () => reader.cancel() };
}

async function whole(request: HttpRequest, { most, error, share }: Collecting) {
  const bytes = await request.bytes(share, most);
  if (bytes.length > most) throw tooLarge(most, error);
  return bytes;
}

async function join(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { most, error, share }: Collecting,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  share?.onDrop(() => void (chunks.length = 0));
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.length;
    if (length > most) throw tooLarge(most, error);
    chunks.push(next.value);
    share?.took(next.value.length);
  }
  return Buffer.concat(chunks);
}

function tooLarge(most: number, error: string): StackwrightError {
  return requestError(
    error,
    `the body is larger than ${most} bytes (MAX_PAYLOAD_SIZE)`,
    "payload_too_large",
  );
}
