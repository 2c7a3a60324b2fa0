import type { ContainerEvent } from "../docker/mod.ts";
import { COMPOSE_LABELS, isOurs, LABELS, type ReconciliationEvent } from "../model/mod.ts";

/** An event of a container, or a service, of a stack. */
interface ContainerNews {
  readonly stack: string;
  /** Id of the container, or of the service. */
  readonly containerId: string;
  /** The event as configurations name it; a signal that asks to end is a `stop` as well. */
  readonly events: readonly ReconciliationEvent[];
  /** Whether it may be a change by hand, or undo one. */
  readonly drifts: boolean;
  /** Whether a swarm reports on an update, which is told whatever the stack reacts to. */
  readonly isVerdict?: boolean;
}

/** Events to ask engines for; `create` is for the scheduler of jobs. */
export const NEWS_ACTIONS = [
  ...["create", "die", "destroy", "update", "stop", "kill", "oom", "health_status"],
  ...["start", "rename", "pause", "unpause", "remove"],
];
const DRIFTS = ["die", "destroy", "update", "start", "rename", "pause", "unpause"];

/** Signals that end a container unless handled. An engine stops containers with the first two. */
const [ASKING, ENDING] = [["15", "2"], ["9", "3"]] as const;

/**
 * What an event means for a stack; `undefined` where that is nothing: a container of no stack or of
 * a one-off run, an unworrying health, a signal that does not end a container. Events of services
 * have no labels, so `stackOf` finds the stack by the service's name.
 */
export function newsOf(
  { type, action, detail, attributes, containerId }: ContainerEvent,
  stackOf: (service: string) => string | undefined,
): ContainerNews | undefined {
  if (type === "service") {
    const event = SERVICE_EVENTS[action];
    const stack = event && stackOf(attributes["name"] ?? "");
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

/** Events of a service, as configurations name them. */
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
