import * as z from "zod";
import { DRIFT_POLICIES } from "../model/mod.ts";
import { DEPLOYMENT_DEFAULTS as D } from "./deployment_defaults.ts";
import { choice, duration, field, flag, scalar, whole } from "./schema_words.ts";

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

const R = D.reconciliation;

/** The section `reconciliation`. */
export const reconciliation = z.strictObject({
  enabled: field(flag(), "React to container events.", R.enabled),
  events: field(
    z.array(choice(EVENT_WORDS)),
    "Container actions that start a reconciliation; an empty list switches it off.",
    R.events,
  ),
  drift: field(
    choice(DRIFT_POLICIES),
    "What somebody changed by hand is mended, only told, or not looked for.",
    R.drift,
  ),
  restart_timeout: field(
    duration(0),
    "Time a container has to stop before it is killed during a restart.",
    R.restart_timeout,
  ),
  restart_signal: field(
    scalar(),
    "Signal that stops a container on restart; empty is the engine's default.",
    R.restart_signal,
  ),
  restart_limit: field(
    whole(0),
    "Restarts of an unhealthy container within the window before they are suppressed; 0 is no limit.",
    R.restart_limit,
  ),
  restart_window: field(duration(0), "Window of the restart limit.", R.restart_window),
});
