import * as z from "zod";
import { DRIFT_POLICIES } from "../model/mod.ts";
import { RECONCILIATION_DEFAULTS } from "./deployment_defaults.ts";
import { choice, closed, duration, field, flag, scalar, whole } from "./schema_words.ts";

/** Spellings of container actions that may start a reconciliation. */
const EVENT_WORDS = [
  "die",
  "destroy",
  "update",
  "stop",
  "kill",
  "oom",
  "unhealthy",
  "remove",
  "delete",
] as const;

/** The section `reconciliation`. */
export const reconciliation = closed({
  enabled: field(flag(), "React to container events."),
  events: field(
    z.array(choice(EVENT_WORDS)),
    "Container actions that start a reconciliation; an empty list switches it off.",
  ),
  drift: field(
    choice(DRIFT_POLICIES),
    "What somebody changed by hand is mended, only told, or not looked for.",
  ),
  restart_timeout: field(
    duration(0),
    "Time a container has to stop before it is killed during a restart.",
  ),
  restart_signal: field(
    scalar(),
    "Signal that stops a container on restart; empty is the engine's default.",
  ),
  restart_limit: field(
    whole(0),
    "Restarts of an unhealthy container within the window before they are suppressed; 0 is no limit.",
  ),
  restart_window: field(duration(0), "Window of the restart limit."),
}, RECONCILIATION_DEFAULTS);
