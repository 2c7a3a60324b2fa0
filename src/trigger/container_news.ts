import type { ContainerEvent } from "../docker/mod.ts";
import { COMPOSE_LABELS, isOurs, LABELS, type ReconciliationEvent } from "../model/mod.ts";

/** Something that happened to a container, or a service, of a stack. */
interface ContainerNews {
  /** Name of the stack. */
  readonly stack: string;
  /** Its id, or that of the service. */
  readonly containerId: string;
  /** What it is in the words of a configuration; a signal that tells it to end is a stop as well. */
  readonly events: readonly ReconciliationEvent[];
  /** Whether somebody may have changed what was asked for, or changed it back. */
  readonly drifts: boolean;
  /** Whether a swarm says how it fares with an update, which is told whatever the stack reacts to. */
  readonly isVerdict?: boolean;
}

/** The actions that are asked of an engine; what is created is news for who looks for jobs. */
export const NEWS_ACTIONS = [
  ...["create", "die", "destroy", "update", "stop", "kill", "oom", "health_status"],
  ...["start", "rename", "pause", "unpause", "remove"],
];
const DRIFTS = ["die", "destroy", "update", "start", "rename", "pause", "unpause"];

/** Signals that end what does not handle them; with the first two an engine asks it to end. */
const [ASKING, ENDING] = [["15", "2"], ["9", "3"]] as const;

/**
 * The meaning of an event for a stack; `undefined` for what is no news: a container of nobody or of a
 * single run, a health that is no worry, a signal that only says something to a container. A service has
 * no labels in its events: `stackOf` tells whose it is by its name.
 */
export function newsOf(
  { type, action, detail, attributes, containerId }: ContainerEvent,
  stackOf: (service: string) => string | undefined,
): ContainerNews | undefined {
  if (type === "service") {
    const stack = stackOf(attributes["name"] ?? "");
    const event = SERVICE_EVENTS[action];
    return stack === undefined || event === undefined ? undefined : {
      ...{ stack, containerId, events: [event], drifts: true },
      ...(attributes["updatestate.new"] === undefined ? {} : { isVerdict: true }),
    };
  }
  const stack = isOurs({ labels: attributes }) ? attributes[LABELS.deployment] ?? "" : "";
  if (stack === "" || attributes[COMPOSE_LABELS.oneOff]?.toLowerCase() === "true") return undefined;
  const events = eventsOf(action, detail, attributes["signal"] ?? "");
  const drifts = DRIFTS.includes(action);
  return events.length === 0 && !drifts ? undefined : { stack, containerId, events, drifts };
}

/** Events of a service, in the words of a configuration. */
const SERVICE_EVENTS: Readonly<Record<string, ReconciliationEvent>> = {
  remove: "destroy",
  update: "update",
};

function eventsOf(action: string, detail: string, signal: string): ReconciliationEvent[] {
  switch (action) {
    case "health_status":
      return detail === "unhealthy" ? ["unhealthy"] : [];
    case "kill":
      if (ASKING.some((each) => each === signal)) return ["kill", "stop"];
      return ENDING.some((each) => each === signal) ? ["kill"] : [];
    case "die":
    case "destroy":
    case "update":
    case "stop":
    case "oom":
      return [action];
    default:
      return [];
  }
}
