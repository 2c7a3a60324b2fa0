import { Buffer } from "node:buffer";
import { errors } from "../model/mod.ts";
import { type Clock, createPauses, type Pauses } from "../system/mod.ts";
import type { EngineApi } from "./api.ts";
import type { LabelFilter } from "./engine_facts.ts";
import { labelTexts } from "./filters.ts";
import { asRecord, asText, type JsonRecord } from "./json.ts";
import { JsonShape } from "./json_shape.ts";
import { asLabels, asName, asShown, LONGEST_ID } from "./told.ts";

/** An event of a container, or of a swarm's service. */
export interface ContainerEvent {
  /** `service` for a service; absent for a container. */
  readonly type?: "service";
  /** Such as `die`, `oom` or `health_status`, without the part after a colon. */
  readonly action: string;
  /** The part of the action after the colon: `unhealthy`. */
  readonly detail: string;
  /** Id of the container or service. */
  readonly containerId: string;
  /** Name, image, exit code and all labels of a container; only the name of a service. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Nanoseconds since 1970. */
  readonly time: bigint;
}

/** Filter for events to listen to. */
export interface EventOptions {
  readonly labels: LabelFilter;
  /** Whether swarm services' events, which have no labels, are included; only without `labels`. */
  readonly withServices?: boolean;
  /** Actions such as `die`; all by default. */
  readonly actions?: readonly string[];
  /** Nanoseconds since 1970: past events since then come first, if the engine still has them. */
  readonly since?: bigint;
}

const LONGEST_EVENT = 1 << 20;

/**
 * Bytes of a stream that are read: per second in the long run, and in a burst. If an engine sends
 * more, the stream ends, and callers observe everything anew.
 */
const HEARD = { perSecond: 2 << 20, storm: 16 << 20 } as const;
/** Cost of a line and of a chunk besides their bytes, in bytes. */
const COST = { line: 500, empty: 16, chunk: 250 } as const;

/**
 * Container events as they happen. Throws the signal's reason when aborted, `engine_unreachable`
 * when the engine ends the stream, and `engine_refused` when it sends too much. Does not reconnect:
 * listeners must observe everything anew after a gap anyway.
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
    for await (const line of jsonLines(response.body, hearing)) {
      const event = api.unlessRefused(() => parseEvent(line));
      if (event !== undefined) yield event;
    }
  } finally {
    response.discard();
  }
  throw errors.engine_unreachable("the engine ended the stream of events");
}

/** Budget of a stream according to {@link HEARD}, with pauses for other work. */
class Hearing {
  readonly #clock: Clock;
  readonly #pauses: Pauses = createPauses();
  #left: number = HEARD.storm;
  #at: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#at = clock.now().getTime();
  }

  /** Spends bytes. Throws `engine_refused` when the budget is used up. */
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

/** An event in the engine's JSON. Throws `engine_refused` for ids and names that are too long. */
export function parseEvent(event: JsonRecord): ContainerEvent {
  const actor = asRecord(event["Actor"]);
  const [action = "", detail = ""] = asText(event["Action"]).split(/:\s*/, 2);
  return {
    ...(event["Type"] === "service" ? { type: "service" } : {}),
    action: asShown(action, LONGEST_ID),
    detail: asShown(detail, LONGEST_ID),
    containerId: asName(actor["ID"], LONGEST_ID),
    attributes: asLabels(actor["Attributes"]),
    time: nanoseconds(event),
  };
}

/**
 * Objects of a stream with one JSON object per line. Drops an incomplete last line, and lines that
 * are too long: events carry all labels of their container, and one container must not block the
 * events of all others. Throws `engine_refused` for invalid JSON, or JSON nested too deep.
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

/** The part of one line that has arrived. */
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

  /** The object on the line; `undefined` if it is empty or too long. */
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

/** The time of an event in nanoseconds, of which JSON loses the last digits: several events may have one. */
function nanoseconds(event: JsonRecord): bigint {
  const precise = event["timeNano"];
  if (typeof precise === "number") return whole(precise);
  const seconds = event["time"];
  return typeof seconds === "number" ? whole(seconds) * 1_000_000_000n : 0n;
}

/** An integer, limited to the latest date that JavaScript can represent. */
function whole(number: number): bigint {
  return BigInt(Math.trunc(Math.min(Math.max(number, 0), 8.64e21)));
}

function unix(time: bigint): string {
  return `${time / 1_000_000_000n}.${String(time % 1_000_000_000n).padStart(9, "0")}`;
}
