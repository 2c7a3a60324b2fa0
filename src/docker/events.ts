import { StackwrightError } from "../model/mod.ts";
import type { EngineApi } from "./api.ts";
import type { LabelFilter } from "./engine_facts.ts";
import { labelTexts } from "./filters.ts";
import { asRecord, asText, asTexts, type JsonRecord } from "./json.ts";

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
 * Container events as they happen, until the signal is aborted (then it throws the reason) or the
 * engine ends the stream (then it throws `engine_unreachable`). It does not reconnect: whoever
 * listens has to look at everything anew after a gap anyway.
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
  try {
    for await (const line of jsonLines(response.body)) yield parseEvent(line);
  } finally {
    response.discard();
  }
  throw new StackwrightError("engine_unreachable", "the engine ended the stream of events");
}

/** One event as the engine writes it. */
export function parseEvent(event: JsonRecord): ContainerEvent {
  const actor = asRecord(event["Actor"]);
  const [action = "", detail = ""] = asText(event["Action"]).split(/:\s*/, 2);
  return {
    ...(event["Type"] === "service" ? { type: "service" } : {}),
    action,
    detail,
    containerId: asText(actor["ID"]),
    attributes: asTexts(actor["Attributes"]),
    time: nanoseconds(event),
  };
}

/**
 * Objects of a stream that has one on each line; a last, incomplete one is dropped. So is one that is
 * too long: events have all labels of their container, and one container must not keep those of all
 * others from being heard.
 */
export async function* jsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<JsonRecord> {
  const decoder = new TextDecoder();
  let rest = "";
  let isTooLong = false;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!isTooLong && line.trim() !== "") yield asRecord(JSON.parse(line));
      isTooLong = false;
    }
    isTooLong ||= rest.length > LONGEST_EVENT;
    if (isTooLong) rest = "";
  }
}

/**
 * The time of an event in nanoseconds. JSON numbers cannot hold them exactly; the last digits are
 * lost, which is why times tell events apart only together with container and action.
 */
function nanoseconds(event: JsonRecord): bigint {
  const precise = event["timeNano"];
  if (typeof precise === "number") return BigInt(precise);
  const seconds = event["time"];
  return typeof seconds === "number" ? BigInt(seconds) * 1_000_000_000n : 0n;
}

function unix(time: bigint): string {
  return `${time / 1_000_000_000n}.${String(time % 1_000_000_000n).padStart(9, "0")}`;
}
