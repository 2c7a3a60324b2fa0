import type { SourceRequest, StackKey } from "../model/mod.ts";
import { deferredBy, type Hold, type SyncSubject } from "../plan/mod.ts";
import type { Target } from "../prepare/mod.ts";
import type { PipelineParts } from "./parts.ts";

type GateParts = Pick<PipelineParts, "windows" | "clock" | "log" | "meter" | "ledger">;

/** The hold of a change that a sync window does not let through now. It counts what it holds. */
export function windowHold(
  parts: GateParts,
  subject: Omit<SyncSubject, "deployment" | "context"> & { readonly key: StackKey },
  services: Hold["services"],
): Hold | undefined {
  const { windows, clock, meter, ledger } = parts;
  const { key, repositories, origin } = subject;
  const asked = { repositories, deployment: key.name, context: key.context, origin };
  const decision = windows.decide(asked, clock.now());
  const log = parts.log.with({ stack: key.name, context: key.context });
  const names = decision.windows.join(", ");
  if (decision.manualOverride) {
    log.info(`sync window bypassed by manual deployment: ${names}`);
  }
  if (decision.allowed) return undefined;
  for (const window of decision.windows) {
    const labels = { deployment: key.name, context: key.context, window };
    meter.count("sync_window_blocked_total", { repository: repositories[0] ?? "", ...labels });
  }
  const message = deferredBy(decision.windows);
  const retryAt = decision.nextOpen;
  const isNews = ledger.decisions.of(key, 1)[0]?.reason !== "sync_window";
  log[isNews ? "info" : "debug"](`deployment ${message}`, {
    ...(retryAt === undefined ? {} : { until: retryAt.toISOString() }),
  });
  const later = retryAt === undefined ? {} : { retryAt };
  return { reason: "sync_window", message, services, ...later };
}

/** The same for a target: windows may speak of its own repository, or of that of its configuration. */
export function targetWindowHold(
  parts: GateParts,
  { key, revision, configuration, origin }: Target,
  services: Hold["services"],
): Hold | undefined {
  const repositories = [revision.source.name, configuration.source.name];
  return windowHold(parts, { key, repositories, origin }, services);
}

/** Whether a window has closed since a change was decided about: waiting for a turn takes its time. */
export function hasClosed(
  { windows, clock }: Pick<GateParts, "windows" | "clock">,
  { key, revision, configuration, origin }: Target,
): boolean {
  const repositories = [revision.source.name, configuration.source.name];
  const asked = { repositories, deployment: key.name, context: key.context, origin };
  return !windows.decide(asked, clock.now()).allowed;
}

/** Keeps what a window defers, where that is wanted; whatever else was decided last takes its place. */
export function noteDeferred(
  { ledger, options }: Pick<PipelineParts, "ledger" | "options">,
  { target: { key, trigger }, request }: {
    readonly target: Pick<Target, "key" | "trigger">;
    readonly request: SourceRequest;
  },
  hold: Pick<Hold, "reason" | "retryAt"> | undefined,
): void {
  if (!options.queuesDeferred || hold?.reason !== "sync_window") return ledger.deferred.remove(key);
  const { retryAt } = hold;
  ledger.deferred.set(key, { trigger, request, ...(retryAt === undefined ? {} : { retryAt }) });
}
