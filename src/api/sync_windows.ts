import * as z from "zod";
import { formatDuration } from "../model/mod.ts";
import type { SyncDecision, SyncWindows, WindowState } from "../plan/mod.ts";
import { type Clock, createTimeFormat } from "../system/mod.ts";
import { defineOperation, type Operation } from "./operation.ts";
import { timestamp } from "./stack_parts.ts";

/** Ports for looking at sync windows. */
export interface SyncWindowParts {
  readonly windows: SyncWindows;
  readonly clock: Clock;
  /** IANA zone of the times that belong to no window. */
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

/** The answer about sync windows. */
export const syncWindowsView = z.strictObject({
  time: timestamp,
  windows: z.array(windowView),
  decision: decisionView.optional().describe("For what repository, deployment and context name."),
});

/** The sync windows on the wire. */
export type SyncWindowsView = z.output<typeof syncWindowsView>;

const selector = z.string().optional();

/**
 * Shows the sync windows, and whether a deployment might be made now. What a query does not name is
 * an empty name: no window that is restricted to some deployments is about a query without one.
 */
export function syncWindowsOperation(
  { windows, clock, timeZone }: SyncWindowParts,
): Operation<SyncWindowsView> {
  return defineOperation({
    id: "getSyncWindows",
    summary: "Show the sync windows, and whether a deployment might be made now.",
    tag: "Deployments",
    power: "read",
    input: z.strictObject({
      repository: selector.describe("Repository as `host/owner/name`."),
      deployment: selector.describe("Name of a compose project or swarm stack."),
      context: selector.describe("Container context; `default` when only others are given."),
      origin: z.enum(["automatic", "manual"]).default("automatic")
        .describe("Who would ask for the deployment."),
    }),
    output: syncWindowsView,
    errors: ["bad_request"],
  }, ({ origin, ...query }) => {
    const now = clock.now();
    const time = createTimeFormat(timeZone);
    const { repository = "", deployment = "", context = "" } = query;
    const [source, name, where] = [repository, deployment, context].map((each) => each.trim());
    const shown = { time: time(now), windows: windows.states(now).map(viewWindow) };
    if (!source && !name && !where) return shown;
    const subject = {
      repositories: [source ?? ""],
      deployment: name ?? "",
      context: where || "default",
      origin,
    };
    return { ...shown, decision: viewDecision(windows.decide(subject, now), time) };
  });
}

/** Times of a window are those of its own zone. */
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
  time: (instant: Date) => string,
): NonNullable<SyncWindowsView["decision"]> {
  return {
    allowed,
    manual_override: manualOverride,
    windows: [...windows],
    ...(nextOpen === undefined ? {} : { next_open: time(nextOpen) }),
  };
}
