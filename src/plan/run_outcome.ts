import {
  type Origin,
  type RunEnd,
  type RunTarget,
  type Trigger,
  wholeSeconds,
} from "../model/mod.ts";

/** Facts about a run besides its targets. */
export interface RunContext {
  readonly trigger: Trigger;
  readonly origin: Origin;
  /** Number of sources that the work named. */
  readonly sources: number;
  /** Whether the work names its stacks: then the run's message consists of theirs. */
  readonly isOfStacks?: boolean;
  /** Why sources failed before or beside their targets: one text for each failed source. */
  readonly failures?: readonly string[];
  /** Prints an instant with its UTC offset in the configured zone. */
  readonly formatTime: (instant: Date) => string;
}

/** A failure message in two parts. */
interface FailureParts {
  readonly headline: string;
  /** Empty when there is nothing more to say. */
  readonly detail: string;
}

const SUCCESS: Readonly<Record<Trigger, string>> = {
  webhook: "job completed successfully",
  poll: "poll completed successfully",
  scheduled_job: "scheduled job trigger completed",
  mirror_compaction: "mirror compaction completed",
};

/**
 * Reduces the states of all targets to the end of the run: any failure makes it failed; else any
 * success makes it succeeded; else it is skipped, and the message says why. A target left pending
 * or running counts as failed.
 *
 * The message of a target that a sync window deferred is that of {@link deferredBy}.
 */
export function reduceTargets(targets: readonly RunTarget[], context: RunContext): RunEnd {
  const causes = failureCauses(targets, context.failures ?? []);
  if (causes.length > 0) return { status: "failed", message: failure(causes, targets, context) };
  if (targets.some((target) => target.status === "succeeded")) {
    return { status: "succeeded", message: success(targets, context) };
  }
  return { status: "skipped", message: skipMessage(targets, context) };
}

/**
 * True when a run did nothing because every target is deferred by a sync window or paused: a
 * waiting caller is then told that the work is accepted, not done.
 */
export function isDeferred(targets: readonly RunTarget[]): boolean {
  return targets.length > 0 &&
    targets.every((target) =>
      target.status === "skipped" && (isPaused(target) || target.reason === "sync_window")
    );
}

/** Splits the message of a failed poll or compaction: `2/3 poll jobs failed`, and the causes. */
export function splitFailure(message: string): FailureParts {
  const parts = /^(\d+\/\d+ (?:poll jobs|mirror compactions) failed): ([^]*)$/.exec(message);
  return { headline: parts?.[1] ?? message, detail: parts?.[2] ?? "" };
}

function success(targets: readonly RunTarget[], { trigger, origin, isOfStacks }: RunContext) {
  if (isOfStacks === true) {
    return targets.map(({ stack, message = "done" }) => `${stack}: ${message}`).join("; ");
  }
  return trigger === "poll" && origin === "manual" ? "poll jobs complete" : SUCCESS[trigger];
}

function failure(causes: readonly string[], targets: readonly RunTarget[], context: RunContext) {
  const detail = causes.join("; ");
  if (context.trigger !== "poll" || context.origin !== "manual") return detail;
  if (context.isOfStacks === true) return detail;
  const { sources, failures = [] } = context;
  const failed = failures.length > 0 ? failures.length : targets.filter(hasFailed).length;
  return `${Math.min(failed, sources)}/${sources} poll jobs failed: ${detail}`;
}

function failureCauses(targets: readonly RunTarget[], failures: readonly string[]): string[] {
  const failed = targets.filter(hasFailed);
  const known = new Set(failed.map((target) => target.message));
  // A source often fails with the error of its target, whose cause also names the stack.
  const others = failures.filter((text) => !known.has(text));
  return [...new Set([...failed.map(targetCause), ...others])];
}

function hasFailed({ status }: RunTarget): boolean {
  return status !== "succeeded" && status !== "skipped";
}

function targetCause(target: RunTarget): string {
  const name = target.context === "default" ? target.stack : `${target.stack} (${target.context})`;
  if (target.status === "failed") return `${name}: ${target.message ?? "failed"}`;
  const step = target.message === undefined ? "" : `: ${target.message}`;
  return `${name}: did not finish${step}`;
}

function skipMessage(targets: readonly RunTarget[], context: RunContext): string {
  if (targets.length === 0) return "nothing to deploy";
  const deferred = targets.filter((target) => target.reason === "sync_window");
  const others = targets.filter((target) => target.reason !== "sync_window")
    .map((target) => skipText(target, context));
  const texts = deferred.length === 0 ? others : [deferral(deferred, context), ...others];
  return [...new Set(texts)].join("; ");
}

function skipText(target: RunTarget, { formatTime }: RunContext): string {
  const { stack, reason, retryAt, message } = target;
  const again = retryAt === undefined ? "" : ` until ${wholeSeconds(formatTime(retryAt))}`;
  switch (reason) {
    case undefined:
    case "no_changes":
      return message ?? "no changes";
    case "filter_mismatch":
      return message ?? "the reference does not match the webhook filter";
    case "superseded":
      return `${stack} is superseded by a newer revision`;
    case "nothing_to_destroy":
      return `${stack}: nothing to destroy`;
    case "delay":
      return `retry of ${stack} is delayed${again}`;
    case "budget_exhausted":
      return `retries of ${stack} are exhausted`;
    case "sync_window":
      return `${stack} is deferred by a sync window`;
    default:
      return reason;
  }
}

/** Merges the deferrals of several targets into one sentence. */
function deferral(targets: readonly RunTarget[], { formatTime }: RunContext): string {
  const stacks = sorted(targets.map((target) => target.stack));
  const windows = sorted(targets.flatMap(({ message = "" }) => windowsOf(message)));
  const instants = targets.flatMap(({ retryAt }) => retryAt === undefined ? [] : [retryAt]);
  const [next] = instants.sort((a, b) => a.getTime() - b.getTime());
  const until = next === undefined ? "" : ` until ${wholeSeconds(formatTime(next))}`;
  return `deployment of ${stacks} deferred by sync window ${windows}`.trimEnd() + until;
}

const DEFERRED = "deferred by sync window ";

/** The message of a target that windows defer, with the time of the next opening if known. */
export function deferredBy(windows: readonly string[], until?: Date): string {
  const opens = until === undefined ? "" : ` until ${wholeSeconds(until)}`;
  return `${DEFERRED}${windows.join(", ")}${opens}`;
}

/** The windows in a message of {@link deferredBy}; text after a semicolon is not part of it. */
function windowsOf(message: string): string[] {
  const [said = ""] = message.replace(DEFERRED, "").split(/;| until \d{4}-/);
  return said.split(",").map((each) => each.trim());
}

function sorted(names: readonly string[]): string {
  return [...new Set(names)].filter((name) => name !== "").sort().join(", ");
}

function isPaused({ reason }: RunTarget): boolean {
  return reason?.startsWith("paused") ?? false;
}
