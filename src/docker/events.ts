import { Buffer } from "node:buffer";
import { errors } from "../model/mod.ts";
import { type Clock, createPauses, type Pauses } from "../system/mod.ts";
import type { EngineApi } from "./api.ts";
import type { LabelFilter } from "./engine_facts.ts";
import { labelTexts } from "./filters.ts";
import { asRecord, asText, asTexts, type JsonRecord } from "./json.ts";
import { JsonShape } from "./json_shape.ts";

/** Something that happened to a container, or to a service of a swarm. */
export interface ContainerEvent {
  /** `service` where it is about one; about a container otherwise. */
  readonly type?: "service";
  /** `die`, `oom`, `health_status`; without what follows a colon. */
  readonly action: string;
  /** What follows the colon of the action: `unhealthy`. */
  readonly detail: string;
  /** Its id, or that of the service. */
  readonly containerId: string;
  /** Name, image, exit code and all labels of the container; of a service, only its name. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Nanoseconds since 1970. */
  readonly time: bigint;
}

/** A choice of the events to listen to. */
export interface EventOptions {
  readonly labels: LabelFilter;
  /** Whether those of services of a swarm come, too: they carry no labels, so all do without labels. */
  readonly withServices?: boolean;
  /** Actions such as `die`; all when empty. */
  readonly actions?: readonly string[];
  /** Nanoseconds since 1970: events from then on come first, if the engine still has them. */
  readonly since?: bigint;
}

const LONGEST_EVENT = 1 << 20;

/**
 * How much of a stream is heard, as bytes: that of one second in the long run, and of a storm. An engine
 * that tells more has the stream ended, and everything is looked at anew instead.
 */
const HEARD = { perSecond: 2 << 20, storm: 16 << 20 } as const;
/** What a line and a chunk cost besides their bytes, as bytes. */
const COST = { line: 500, empty: 16, chunk: 250 } as const;

/**
 * Container events as they happen, until the signal is aborted (then it throws the reason), the engine
 * ends the stream (then it throws `engine_unreachable`), or tells more than is heard (`engine_refused`).
 * It does not reconnect: whoever listens has to look at everything anew after a gap anyway.
 */
export async function* containerEvents(
  api: EngineApi,
  options: EventOptions,
  signal: AbortSignal,
): AsyncGenerator<ContainerEvent> {
  const filters = {
    type: options.withServices === true ? ["container", "service"] : ["container"],
    label: labelTexts(options.labels),
    ...(options.actions === undefined ? {} : { event: options.actions }),
  };
  const query = { filters, since: options.since === undefined ? undefined : unix(options.since) };
  const response = await api.call({ method: "GET", path: "/events", query }, signal);
  const hearing = new Hearing(api.clock);
  try {
    for await (const line of jsonLines(response.body, hearing)) yield parseEvent(line);
  } finally {
    response.discard();
  }
  throw errors.engine_unreachable("the engine ended the stream of events");
}

/** What is left of {@link HEARD}, and pauses for everybody else. */
class Hearing {
  readonly #clock: Clock;
  readonly #pauses: Pauses = createPauses();
  #left: number = HEARD.storm;
  #at: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.now().getTime();
  }

  /** Throws `engine_refused` when nothing is left. */
  pay(bytes: number): Promise<void> | undefined {
    this.#left -= bytes;
    if (this.#left < 0) this.#refill();
    return this.#pauses.after(bytes);
  }

  #refill(): void {
    const now = this.#clock.now().getTime();
    const more = Math.max(0, now - this.#at) / 1000 * HEARD.perSecond;
    this.#at = now;
    this.#left = Math.min(HEARD.storm, this.#left + more);
    if (this.#left >= 0) return;
    throw errors.engine_refused(
      "the engine tells of more events than are listened to, so what runs is looked at instead",
    );
  }
}

/** Characters of an action, and of an id: both are remembered for a while. */
const LONGEST_WORD = 128;

/** One event as the engine writes it. */
export function parseEvent(event: JsonRecord): ContainerEvent {
  const actor = asRecord(event["Actor"]);
  const [action = "", detail = ""] = asText(event["Action"]).split(/:\s*/, 2);
  return {
    ...(event["Type"] === "service" ? { type: "service" } : {}),
    action: action.slice(0, LONGEST_WORD),
    detail: detail.slice(0, LONGEST_WORD),
    containerId: asText(actor["ID"]).slice(0, LONGEST_WORD),
    attributes: asTexts(actor["Attributes"]),
    time: nanoseconds(event),
  };
}

/**
 * Objects of a stream that has one on each line; a last, incomplete one is dropped. So is one that is
 * too long: events have all labels of their container, and one container must not keep those of all
 * others from being heard. Throws `engine_refused` for what is no JSON, or nested too deep.
 */
export async function* jsonLines(
  chunks: AsyncIterable<Uint8Array>,
  hearing?: Pick<Hearing, "pay">,
): AsyncGenerator<JsonRecord> {
  let line = new Line();
  for await (const chunk of chunks) {
    await hearing?.pay(COST.chunk);
    for (let from = 0; from < chunk.length;) {
      const end = chunk.indexOf(NEWLINE, from);
      const piece = chunk.subarray(from, end === -1 ? chunk.length : end);
      from += piece.length + 1;
      line.add(piece);
      await hearing?.pay(piece.length + (end === -1 ? 0 : line.isEmpty ? COST.empty : COST.line));
      if (end === -1) break;
      const said = line.value();
      if (said !== undefined) yield said;
      if (!line.isEmpty) line = new Line();
    }
  }
}

const NEWLINE = 0x0a;

/** One line of a stream, as far as it came. */
class Line {
  readonly #pieces: Uint8Array[] = [];
  #length = 0;

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(piece: Uint8Array): void {
    this.#length += piece.length;
    if (piece.length === 0) return;
    if (this.#length <= LONGEST_EVENT) this.#pieces.push(piece);
    else this.#pieces.length = 0;
  }

  /** The object on it; `undefined` for none, and for one that is too long. */
  value(): JsonRecord | undefined {
    if (this.isEmpty || this.#length > LONGEST_EVENT) return undefined;
    const bytes = Buffer.concat(this.#pieces);
    new JsonShape().add(bytes);
    const text = new TextDecoder().decode(bytes);
    if (text.trim() === "") return undefined;
    try {
      return asRecord(JSON.parse(text));
    } catch (cause) {
      const message = "the engine told of an event with something that is not JSON";
      throw errors.engine_refused(message, { cause });
    }
  }
}

/**
 * The time of an event in nanoseconds. JSON numbers cannot hold them exactly; the last digits are
 * lost, which is why times tell events apart only together with container and action.
 */
function nanoseconds(event: JsonRecord): bigint {
  const precise = event["timeNano"];
  if (typeof precise === "number") return whole(precise);
  const seconds = event["time"];
  return typeof seconds === "number" ? whole(seconds) * 1_000_000_000n : 0n;
}

/** Times are whole numbers, of which the newest that a calendar has is the greatest. */
function whole(number: number): bigint {
  return BigInt(Math.trunc(Math.min(Math.max(number, 0), 8.64e21)));
}

function unix(time: bigint): string {
  return `${time / 1_000_000_000n}.${String(time % 1_000_000_000n).padStart(9, "0")}`;
}
