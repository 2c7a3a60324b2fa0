import { StackwrightError } from "../model/mod.ts";
import { type Clock, systemClock, withDeadline } from "../system/mod.ts";
import { chooseApiVersion } from "./api_version.ts";
import { asRecord, asText, type Json } from "./json.ts";
import type { Transport } from "./transport.ts";
import type { TransportRequest, TransportResponse } from "./transport_messages.ts";
import { readText, refusal } from "./api_refusal.ts";
import { type ApiRequest, isMutating, toTransport } from "./api_request.ts";

/** A call that changes something, as it is about to be sent. */
export interface MutatingCall {
  readonly method: string;
  readonly path: string;
}

interface ApiOptions {
  /** `DOCKER_API_VERSION`; empty: agree with the engine. */
  readonly apiVersion?: string;
  /** Told of every mutating call before it is sent. */
  readonly onMutation?: (call: MutatingCall) => void;
  /** Measures the limits of calls; the real clock by default. */
  readonly clock?: Clock;
}

/** The engine's version, as it says itself. */
interface EngineVersion {
  readonly version: string;
  /** API version both sides speak. */
  readonly apiVersion: string;
}

/**
 * Longest time for an answer that waits for nothing, in milliseconds: an engine that hangs must not
 * hold a deployment, and with it a stack, for ever.
 */
export const CALL_LIMIT_MS = 120_000;
const ANSWER_LIMIT = 64 << 20;

/** The Engine API below the typed calls: versions, JSON, and errors that name the call. */
export class EngineApi {
  readonly #transport: Transport;
  readonly #options: ApiOptions;
  #version: Promise<EngineVersion> | undefined;

  constructor(transport: Transport, options: ApiOptions = {}) {
    this.#transport = transport;
    this.#options = options;
  }

  /**
   * Sends a call and returns its answer when the status is below 400 or accepted.
   *
   * Throws `engine_refused` for any other status, and what {@link Transport.request} and
   * {@link EngineApi.version} throw.
   */
  call(request: ApiRequest, signal: AbortSignal): Promise<TransportResponse> {
    return this.#call(request, false, signal);
  }

  async #call(
    request: ApiRequest,
    isWhole: boolean,
    signal: AbortSignal,
  ): Promise<TransportResponse> {
    const { apiVersion } = await this.version(signal);
    const message = { ...toTransport(request, `/v${apiVersion}`), isWhole };
    if (isMutating(request)) {
      this.#options.onMutation?.({ method: request.method, path: request.path });
    }
    const response = await this.#send(message, signal);
    if (response.status < 400 || request.accept?.includes(response.status)) return response;
    throw await refusal(request, response);
  }

  /** As {@link EngineApi.call}, with the answer read as JSON; `undefined` for an accepted error status. */
  async json(request: ApiRequest, signal: AbortSignal): Promise<Json | undefined> {
    return await this.inTime(request, signal, async (within) => {
      // A wait may be as long as a container runs.
      const response = await this.#call(request, request.limitMs !== Infinity, within);
      if (response.status >= 400) return void response.discard();
      return parseAnswer(request, await readText(response, ANSWER_LIMIT));
    });
  }

  /** As {@link EngineApi.call}, for calls whose answer says nothing; returns the status. */
  async send(request: ApiRequest, signal: AbortSignal): Promise<number> {
    return await this.inTime(request, signal, async (within) => {
      const response = await this.#call(request, true, within);
      await readText(response, ANSWER_LIMIT);
      return response.status;
    });
  }

  /** Runs work on the answer of a call within the call's limit. Throws `engine_unreachable` after it. */
  async inTime<T>(
    { method, path, limitMs = CALL_LIMIT_MS }: ApiRequest,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (limitMs === Infinity) return await work(signal);
    const late = () =>
      new StackwrightError(
        "engine_unreachable",
        `engine did not answer ${method} ${path} within ${limitMs / 1000} s; is it overloaded?`,
      );
    const { clock = systemClock } = this.#options;
    return await withDeadline({ clock, milliseconds: limitMs, late }, work, signal);
  }

  /**
   * The engine's version and the API version agreed on: asked once, and again after the engine was
   * unreachable, since it may come back as another one.
   */
  async version(signal: AbortSignal): Promise<EngineVersion> {
    const known = this.#version;
    if (known !== undefined) return await known;
    const asked = this.#askVersion(signal);
    this.#version = asked;
    return await asked.catch((error) => {
      if (this.#version === asked) this.#version = undefined;
      throw error;
    });
  }

  async #askVersion(signal: AbortSignal): Promise<EngineVersion> {
    const request: ApiRequest = { method: "GET", path: "/version" };
    const message = { ...toTransport(request, ""), isWhole: true };
    const response = await this.#send(message, signal);
    if (response.status >= 400) throw await refusal(request, response);
    const answer = asRecord(parseAnswer(request, await readText(response, ANSWER_LIMIT)));
    const oldest = asText(answer["MinAPIVersion"]);
    const versions = {
      newest: asText(answer["ApiVersion"]),
      ...(oldest === "" ? {} : { oldest }),
    };
    const apiVersion = chooseApiVersion(versions, this.#options.apiVersion);
    return { version: asText(answer["Version"]), apiVersion };
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
 * Escapes one name for a path; a slash stays, as image names contain them. Throws `config_invalid` for
 * one that leads to another path: names come from repositories.
 */
export function pathName(name: string): string {
  if (/(?:^|\/)\.{0,2}(?:\/|$)/.test(name)) {
    throw new StackwrightError(
      "config_invalid",
      `${JSON.stringify(name.slice(0, 100))} is no name that the engine has anything by`,
    );
  }
  return name.split("/").map(encodeURIComponent).join("/");
}

function parseAnswer(request: ApiRequest, text: string): Json {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StackwrightError(
      "engine_refused",
      `engine answered ${request.method} ${request.path} with something that is not JSON; ` +
        "is a Docker Engine listening there?",
      { cause },
    );
  }
}
