import { errors } from "../model/mod.ts";
import { type Apart, type Clock, keepLatest, withDeadline } from "../system/mod.ts";
import { atOnce, LongAnswer, type Reading } from "./answer.ts";
import type { ApiRequest } from "./api_request.ts";
import { asRecord, type JsonRecord } from "./json.ts";
import { Owners } from "./owners.ts";
import { EnginePlaces } from "./places.ts";
import { whoseLabels } from "./told.ts";

/**
 * Milliseconds for an answer to any call that does not wait for something: an engine that hangs
 * must not block a deployment, and with it a stack, for ever.
 */
export const CALL_LIMIT_MS = 120_000;
/** Most questions of which it is remembered that their answers are long. */
const MOST_LONG = 1000;
/** Characters of one of these. */
const LONGEST_QUESTION = 4096;

/** When the calls of one engine are sent and read: in turn by whom they are for, each within its limit. */
export class CallTurns {
  readonly places: EnginePlaces = new EnginePlaces();
  /** Whom calls are for. */
  readonly owners: Owners = new Owners();
  readonly #clock: Clock;
  readonly #find: (path: string, signal: AbortSignal) => Promise<JsonRecord | undefined>;
  /** Questions whose answers were long. */
  readonly #long = new Map<string, true>();

  /** `find` reads the object at a path, if there is one. */
  constructor(
    clock: Clock,
    find: (path: string, signal: AbortSignal) => Promise<JsonRecord | undefined>,
  ) {
    this.#clock = clock;
    this.#find = find;
  }

  /**
   * Runs work that sends a call and reads its answer, as {@link CallTurns.inTime}. An answer that turns
   * out to be long is given up and asked for again in its turn: meanwhile it has no connection, no memory
   * and no place among the calls.
   */
  async read<T>(
    request: ApiRequest,
    signal: AbortSignal,
    work: (signal: AbortSignal, how: Reading) => Promise<T>,
  ): Promise<T> {
    const who = this.owners.of(request);
    const what = JSON.stringify([request.path, request.query]);
    const onShort = () => void this.#long.delete(what);
    const how = { clock: this.#clock, places: this.places, who };
    const read = (isTurn: boolean) =>
      this.inTime(request, signal, (within, apart) => {
        const long = { isTurn, onShort };
        // A change is not sent twice.
        return work(within, { ...how, apart, ...(request.method === "GET" ? { long } : {}) });
      });
    if (!this.#long.has(what)) {
      try {
        return await read(false);
      } catch (error) {
        if (!(error instanceof LongAnswer)) throw error;
        this.#remember(what);
      }
    }
    return await this.places.long.run(who, () => read(true), signal);
  }

  #remember(what: string): void {
    if (what.length <= LONGEST_QUESTION) keepLatest(this.#long, MOST_LONG, what, true);
  }

  /**
   * Runs work on the answer of a call within the call's limit, when few others are under way; calls that
   * wait for containers are beside these, and those that act on one have places of their own. Throws
   * `engine_unreachable` after it.
   */
  async inTime<T>(
    request: ApiRequest,
    signal: AbortSignal,
    work: (signal: AbortSignal, apart: Apart) => Promise<T>,
  ): Promise<T> {
    const { actsOn, limitMs } = request;
    if (limitMs === Infinity) return await work(signal, atOnce);
    const run = () => this.limited(request, signal, work);
    if (waits(request)) return await run();
    if (actsOn !== undefined) {
      return await this.places.acting.run(await this.#whose(actsOn, signal), run, signal);
    }
    if (request.isBeside === true) return await this.places.beside.run(run, signal);
    return await this.places.calls.run(this.owners.of(request), run, signal);
  }

  async #whose(container: string, signal: AbortSignal): Promise<string> {
    const path = `/containers/${encodeURIComponent(container)}/json`;
    const known = this.owners.of({ path });
    if (known !== "") return known;
    return whoseLabels(asRecord((await this.#find(path, signal))?.["Config"])["Labels"]);
  }

  /**
   * Runs work that reads a log, within the limit of its call, the wait for a place included: a log driver
   * may keep its log for as long as that. `ofWhom` runs a part of it in somebody's turn.
   */
  async inLogTime<T>(
    request: ApiRequest,
    signal: AbortSignal,
    work: (
      signal: AbortSignal,
      ofWhom: <R>(whose: string, read: () => Promise<R>) => Promise<R>,
    ) => Promise<T>,
  ): Promise<T> {
    return await this.limited(
      request,
      signal,
      (within) => work(within, (whose, read) => this.places.logs.run(whose, read, within)),
    );
  }

  /** Runs work within the limit of a call, with no place. Throws `engine_unreachable` after it. */
  async limited<T>(
    { method, path, limitMs = CALL_LIMIT_MS }: ApiRequest,
    signal: AbortSignal,
    work: (signal: AbortSignal, apart: Apart) => Promise<T>,
  ): Promise<T> {
    const late = () =>
      errors.engine_unreachable(
        `engine did not answer ${method} ${path} within ${limitMs / 1000} s; is it overloaded?`,
      );
    return await withDeadline({ clock: this.#clock, milliseconds: limitMs, late }, work, signal);
  }
}

/**
 * Whether a call waits for a container, which may take as long as that runs: a few hundred of them would
 * keep all others of the engine waiting.
 */
export function waits({ limitMs = CALL_LIMIT_MS }: ApiRequest): boolean {
  return limitMs > CALL_LIMIT_MS;
}
