import * as z from "zod";
import { formatDuration } from "../model/mod.ts";
import type { SyncDecision, SyncWindows, WindowState } from "../plan/mod.ts";
import { type Clock, createTimeFormat, type TimeFormat } from "../system/mod.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { timestamp } from "./stack_parts.ts";

/** Ports for showing sync windows. */
export interface SyncWindowParts {
  readonly windows: SyncWindows;
  readonly clock: Clock;
  readonly timeZone: string;
}

const windowView = z.strictObject({
  name: z.string(),
  kind: z.enum(["allow", "deny"]),
  schedule: z.string(),
  duration: z.string().describe("Such as `62h0m0s`."),
  timezone: z.string(),
  repositories: z.array(z.string()),
  deployments: z.array(z.string()),
  contexts: z.array(z.string()),
  manual_sync: z.boolean().describe("Whether deployments a person asks for pass it."),
  active: z.boolean(),
  active_since: timestamp.optional(),
  active_until: timestamp.optional(),
  next_start: timestamp.optional().describe("The next start, also while it is active."),
});

const decisionView = z.strictObject({
  allowed: z.boolean(),
  manual_override: z.boolean().describe("Allowed only because a person asks for it."),
  windows: z.array(z.string()).describe("Windows that block it, or would but for the override."),
  next_open: timestamp.optional().describe("The earliest time at which it may be deployed."),
});

const syncWindowsView = z.strictObject({
  time: timestamp,
  windows: z.array(windowView),
  decision: decisionView.optional().describe("For what repository, deployment and context name."),
});

type SyncWindowsView = z.output<typeof syncWindowsView>;

const selector = z.string().optional();

const input = z.strictObject({
  repository: selector.describe("Repository as `host/owner/name`."),
  deployment: selector.describe("Name of a compose project or swarm stack."),
  context: selector.describe("Container context; `default` when only others are given."),
  origin: z.enum(["automatic", "manual"]).default("automatic")
    .describe("Who would ask for the deployment."),
});

/**
 * Shows the sync windows, and whether a deployment would be allowed now. Fields that a query leaves
 * out count as empty names: a window for certain deployments does not apply to a query without one.
 */
export function syncWindowsOperation(parts: SyncWindowParts): Operation<SyncWindowsView> {
  const time = createTimeFormat(parts.timeZone);
  return defineOperation({
    id: "getSyncWindows",
    summary: "Show the sync windows, and whether a deployment might be made now.",
    tag: "Deployments",
    power: "read",
    input,
    output: syncWindowsView,
    errors: ["bad_request"],
  }, (query) => {
    const now = parts.clock.now();
    const shown = { time: time(now), windows: parts.windows.states(now).map(viewWindow) };
    const subject = subjectOf(query);
    if (subject === undefined) return shown;
    return { ...shown, decision: viewDecision(parts.windows.decide(subject, now), time) };
  });
}

function subjectOf({ origin, ...query }: z.output<typeof input>) {
  const { repository = "", deployment = "", context = "" } = query;
  const [source = "", name = "", where = ""] = [repository, deployment, context]
    .map((each) => each.trim());
  if (source === "" && name === "" && where === "") return undefined;
  return { repositories: [source], deployment: name, context: where || "default", origin };
}

/** Shows a window, with times in its own zone. */
function viewWindow({ window, ...state }: WindowState): SyncWindowsView["windows"][number] {
  const time = createTimeFormat(window.timeZone);
  return {
    name: window.name,
    kind: window.kind,
    schedule: window.schedule,
    duration: formatDuration(window.durationSeconds),
    timezone: window.timeZone,
    repositories: [...window.repositories],
    deployments: [...window.deployments],
    contexts: [...window.contexts],
    manual_sync: window.manualSync,
    active: state.active,
    ...(state.since === undefined ? {} : { active_since: time(state.since) }),
    ...(state.until === undefined ? {} : { active_until: time(state.until) }),
    ...(state.nextStart === undefined ? {} : { next_start: time(state.nextStart) }),
  };
}

function viewDecision(
  { allowed, manualOverride, windows, nextOpen }: SyncDecision,
  time: TimeFormat,
): NonNullable<SyncWindowsView["decision"]> {
  return {
    allowed,
    manual_override: manualOverride,
    windows: [...windows],
    ...(nextOpen === undefined ? {} : { next_open: time(nextOpen) }),
  };
}
