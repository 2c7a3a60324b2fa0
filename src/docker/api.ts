import { clip, errors, isStackwrightError, StackwrightError } from "../model/mod.ts";
import { abortable, type Clock, systemClock } from "../system/mod.ts";
import { type EntryReading, readList, readValue, unhurried } from "./answer.ts";
import { chooseApiVersion } from "./api_version.ts";
import { asRecord, asText, type Json, type JsonRecord } from "./json.ts";
import { tooMuch } from "./json_shape.ts";
import { CallTurns, waits } from "./call_turns.ts";
import { asShown, LONGEST_ID } from "./told.ts";
import type { Transport } from "./transport.ts";
import type { TransportRequest, TransportResponse } from "./transport_messages.ts";
import { isDone, parsing, refusal } from "./api_refusal.ts";
import { type ApiRequest, isMutating, type Query, toTransport } from "./api_request.ts";

/** A mutating call that is about to be sent. */
export interface MutatingCall {
  readonly method: string;
  readonly path: string;
}

/** Options of the API that the client of an engine has, too. */
export interface ApiOptions {
  /** `DOCKER_API_VERSION`; empty to agree on a version with the engine. */
  readonly apiVersion?: string;
  /** Called before each mutating call is sent. */
  readonly onMutation?: (call: MutatingCall) => void;
  /** Told once, in a sentence, that something is left out of lists and events. */
  readonly onLeftOut?: (why: string) => void;
  /** Measures the limits of calls; the real clock by default. */
  readonly clock?: Clock;
}

interface EngineVersion {
  readonly version: string;
  /** API version both sides speak. */
  readonly apiVersion: string;
}

interface AskedVersion {
  readonly answer: Promise<EngineVersion>;
  readonly end: AbortController;
  waiting: number;
  isOver: boolean;
}

/** Bytes of an answer whose content does not matter. */
const MOST_SAID = 1 << 20;
/** Bytes of an answer that may come at any time, beside any number of others. */
const MOST_AWAITED = 64 << 10;
/** Milliseconds for the engine to report its version, which every other call waits for. */
const VERSION_LIMIT_MS = 60_000;

/** The Engine API below the typed calls: versions, JSON, and errors that name the call. */
export class EngineApi {
  readonly #transport: Transport;
  readonly #options: ApiOptions;
  /** Measures the limits of calls. */
  readonly clock: Clock;
  readonly turns: CallTurns;
  #version: AskedVersion | undefined;
  #hasLeftOut = false;

  constructor(transport: Transport, options: ApiOptions = {}) {
    this.#transport = transport;
    this.#options = options;
    this.clock = options.clock ?? systemClock;
    this.turns = new CallTurns(this.clock, (path, signal) => this.find(path, signal));
  }

  /**
   * Sends a call and returns its answer if it succeeded or its status is accepted.
   *
   * Throws `engine_refused` for any other status, and what {@link Transport.request} and
   * {@link EngineApi.version} throw.
   */
  async call(
    request: ApiRequest,
    signal: AbortSignal,
    isWhole = false,
  ): Promise<TransportResponse> {
    const { apiVersion } = await this.version(signal);
    const message = { ...toTransport(request, `/v${apiVersion}`), isWhole };
    if (isMutating(request)) {
      this.#options.onMutation?.({ method: request.method, path: request.path });
    }
    const response = await this.#send(message, signal);
    if (isDone(response.status) || request.accept?.includes(response.status)) return response;
    throw await refusal(request, response);
  }

  /** As {@link EngineApi.call}, with the answer read as JSON; `undefined` for an accepted error status. */
  async json(request: ApiRequest, signal: AbortSignal): Promise<Json | undefined> {
    return await this.turns.read(request, signal, async (within, turn) => {
      const isWhole = !waits(request);
      const response = await this.call(request, within, isWhole);
      if (!isDone(response.status)) return void response.discard();
      const mostBytes = !isWhole ? MOST_AWAITED : request.isBeside === true ? MOST_SAID : Infinity;
      const how = { ...turn, mostBytes };
      return await parsing(request, readValue(response, how, within));
    });
  }

  /**
   * The results of `of` for a list, without `undefined`, and, unless it has to be whole, without entries
   * that `of` refuses; empty after an accepted error.
   */
  async list<T>(
    request: ApiRequest,
    shape: EntryReading<T>,
    signal: AbortSignal,
  ): Promise<T[]> {
    return await this.turns.read(request, signal, async (within, turn) => {
      const response = await this.call(request, within, true);
      if (!isDone(response.status)) {
        response.discard();
        return [];
      }
      const reading = <R>(read: () => R) =>
        shape.isWhole === true ? read() : this.unlessRefused(read);
      const of = (entry: JsonRecord) => reading(() => shape.of(entry));
      const leftOut = (what: string) =>
        reading(() => {
          throw tooMuch(what);
        });
      const how = { ...shape, ...turn, of, leftOut };
      return await parsing(request, readList(response, how, within));
    });
  }

  /** What is read of one of several things; `undefined` where that is refused: it hides no others. */
  unlessRefused<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!isStackwrightError(error, "engine_refused")) throw error;
      if (!this.#hasLeftOut) this.#options.onLeftOut?.(`left alone: ${error.message}`);
      this.#hasLeftOut = true;
      return undefined;
    }
  }

  /** As {@link EngineApi.call}, ignoring the answer. */
  async send(request: ApiRequest, signal: AbortSignal): Promise<void> {
    return await this.turns.inTime(request, signal, async (within, apart) => {
      const response = await this.call(request, within, !waits(request));
      let length = 0;
      for await (const chunk of unhurried(response, this.clock, within, apart)) {
        length += chunk.length;
        if (length > MOST_SAID) throw tooMuch(`longer than ${MOST_SAID} bytes`);
      }
    });
  }

  /** The object at a path; `undefined` if there is none. */
  async find(
    path: string,
    signal: AbortSignal,
    query: Query = {},
  ): Promise<JsonRecord | undefined> {
    const answer = await this.json({ method: "GET", path, query, accept: [404] }, signal);
    return answer === undefined ? undefined : asRecord(answer);
  }

  /** Removes the object at a path; may be gone already. */
  async remove(path: string, signal: AbortSignal): Promise<void> {
    await this.send({ method: "DELETE", path, accept: [404] }, signal);
  }

  /**
   * The engine's version and the agreed API version: requested once, and again after the engine was
   * unreachable, since it may have been replaced.
   */
  async version(signal: AbortSignal): Promise<EngineVersion> {
    signal.throwIfAborted();
    const asked = this.#version ??= this.#asking();
    asked.waiting++;
    try {
      return await abortable(asked.answer, signal);
    } finally {
      if (--asked.waiting === 0 && !asked.isOver) this.#giveUp(asked);
    }
  }

  /** The shared request for the version; aborted only when all of its callers have given up. */
  #asking(): AskedVersion {
    const request: ApiRequest = { method: "GET", path: "/version", limitMs: VERSION_LIMIT_MS };
    const end = new AbortController();
    const answer = this.turns.limited(
      request,
      end.signal,
      (within) => this.#askVersion(request, within),
    );
    const asked = { answer, end, waiting: 0, isOver: false };
    answer.catch(() => this.#giveUp(asked)).finally(() => asked.isOver = true);
    return asked;
  }

  /** Takes effect immediately, so that a new caller does not get the error of those who gave up. */
  #giveUp(asked: AskedVersion): void {
    if (this.#version === asked) this.#version = undefined;
    asked.end.abort();
  }

  async #askVersion(request: ApiRequest, signal: AbortSignal): Promise<EngineVersion> {
    const message = { ...toTransport(request, ""), isWhole: true };
    const response = await this.#send(message, signal);
    if (!isDone(response.status)) throw await refusal(request, response);
    const answer = asRecord(
      await parsing(
        request,
        readValue(response, { clock: this.clock, places: this.turns.places }, signal),
      ),
    );
    const oldest = asText(answer["MinAPIVersion"]);
    const versions = { newest: asText(answer["ApiVersion"]), ...(oldest === "" ? {} : { oldest }) };
    const apiVersion = chooseApiVersion(versions, this.#options.apiVersion);
    return { version: asShown(answer["Version"], LONGEST_ID), apiVersion };
  }

  async #send(message: TransportRequest, signal: AbortSignal): Promise<TransportResponse> {
    try {
      return await this.#transport.request(message, signal);
    } catch (error) {
      if (error instanceof StackwrightError && error.code === "engine_unreachable") {
        this.#version = undefined;
      }
      throw error;
    }
  }

  /** Closes idle connections. May be called twice. */
  close(): void {
    this.#transport.close();
  }
}

/**
 * Escapes a name for a path, except for the slashes in image names. Throws `config_invalid` for a
 * name that leads to another path: names come from repositories.
 */
export function pathName(name: string): string {
  if (/(?:^|\/)\.{0,2}(?:\/|$)/.test(name)) {
    throw errors.config_invalid(
      `${JSON.stringify(clip(name, 100))} is no name that the engine has anything by`,
    );
  }
  return name.split("/").map(encodeURIComponent).join("/");
}
