import { assemble, type Assembly } from "./app/assemble.ts";
import { createGate, type Gate } from "./app/gate.ts";
import { announcePolls, measureRun } from "./app/measure_run.ts";
import { forEachContext } from "./app/each_context.ts";
import { createEngineEvents } from "./app/engine_events.ts";
import { JobBoards } from "./app/jobs.ts";
import { createReconciliation } from "./app/reconciliation.ts";
import { HEAD_START_MS, recoveringPipeline } from "./app/recovering_pipeline.ts";
import { stackFigures } from "./app/stack_figures.ts";
import type { System } from "./app/system.ts";
import type { Intake } from "./intake.ts";
import { DEFAULT_CONTEXT, messageOf } from "./model/mod.ts";
import { awayContexts } from "./pipeline/mod.ts";
import type { Pipeline } from "./pipeline.ts";
import { createPrometheus } from "./record/mod.ts";
import type { Settings } from "./settings/mod.ts";
import { once, within } from "./system/mod.ts";
import { startPolls } from "./app/start_polls.ts";
import { performers } from "./app/performers.ts";
import { createAlarms } from "./app/alarms.ts";
import { startServers } from "./app/listen.ts";

export { asPolled } from "./app/as_polled.ts";
export { type CommandGate, createCommandGate } from "./app/gate.ts";
export { assemble, type Assembly } from "./app/assemble.ts";
export { openApiDocuments } from "./app/documents.ts";
export * from "./app/doctor.ts";
export { isServed, NOT_SERVED } from "./app/only_service.ts";
export { keepKey } from "./app/open_state.ts";
export { planAside } from "./app/plan_aside.ts";
export { recordedNames } from "./app/recorded_names.ts";
export { settingFiles } from "./app/setting_files.ts";
export type { System } from "./app/system.ts";

/** The running service. */
export interface App {
  /** Address of the API. */
  readonly url: string;
  readonly metricsUrl: string;
  readonly intake: Intake;
  /** Resolves when every poll loop has ended by itself, as `run_once` entries do. */
  readonly polled: Promise<void>;
  /** Stops gracefully: no new work, a grace period for what is under way, then the end. */
  close(): Promise<void>;
}

/** Milliseconds for which shutdown waits for the aborted recovery to end. */
const SETTLE_MS = 2_000;

/** Milliseconds that requests under way may take after everything else has stopped. */
const REQUEST_GRACE_MS = 10_000;

/**
 * Builds everything from the settings and starts it: opens the data directory, listens, finishes what
 * an earlier process left open, then polls. Starts also while an engine is down: runs say so and fail.
 *
 * Throws `data_dir_unusable`, `ledger_unusable`, `settings_invalid`, or what listening throws.
 */
export async function startApp(settings: Settings, system: System): Promise<App> {
  const { log } = system;
  const meter = createPrometheus(undefined, (text) => system.redactor.redact(text));
  const assembly = await assemble(settings, system, { meter, serves: true });
  const stop = new AbortController();
  const pipeline = recoveringPipeline(assembly, system.clock, stop.signal);
  const { ledger } = assembly;
  const alarms = createAlarms(ledger, system, () => gate.intake, stop.signal);
  const events = createEngineEvents(assembly.engines, system, stop.signal);
  const boards = new JobBoards({
    ...system,
    ...assembly,
    events,
    gate: () => gate,
    log: log.with({ component: "scheduler" }),
    meter,
    timeZone: settings.timeZone,
    hasSwarmFeatures: settings.deploy.swarmFeatures,
  }, stop.signal);
  const gate: Gate = createGate(settings, system, {
    assembly,
    performers: performers(pipeline, boards, { assembly, meter, clock: system.clock }),
    onEnd(run, work) {
      measureRun(meter, run, work);
      alarms.note(run, work);
    },
    jobs: (context, signal) => boards.of(context).list(signal),
  });
  const { intake } = gate;
  meter.showStacks(() => stackFigures(ledger, system.clock.now()));
  meter.showMirrors(() => assembly.mirrors.packs());
  announcePolls(meter, settings.polls.map(({ request }) => request));
  const parts = { assembly, gate, meter };
  const { server, metrics } = await startServers(settings, system, parts, stop.signal);
  const due = new Set(ledger.interrupted().map(({ id }) => id));
  const tries = { assembly, intake, pipeline, due };
  const recovered = tryRecover(system, tries, stop.signal);
  void recovered.then(() => stop.signal.aborted || alarms.start());
  const polling = { ...assembly, intake, runs: gate.runs };
  const polled = recovered.then(() => startPolls(settings, system, polling, stop.signal));
  const scheduled = startJobs(settings, { assembly, boards, recovered }, stop.signal);
  const { finished, able, settled } = afterRecovery(
    recovered,
    (onWaiting) => keepRecovering(system, { ...tries, onWaiting }, stop.signal),
  );
  const watched = { assembly, events, pipeline, listeners: assembly.listeners };
  const reconciled = createReconciliation(settings, system, watched)
    .run(stop.signal, { able, settled });
  const close = once(async () => {
    log.info("shutting down");
    // The server still listens: waiting clients get their answers, and new work its refusal.
    await intake.close();
    stop.abort(new DOMException("shutting down", "AbortError"));
    await Promise.all([polled, finished, reconciled, scheduled]);
    await within(pipeline.recovered(), SETTLE_MS, system.clock, new AbortController().signal);
    await Promise.all([server, metrics].map((each) => each.shutdown(REQUEST_GRACE_MS)));
    await assembly.close();
  });
  return { url: server.url, metricsUrl: metrics.url, intake, polled, close };
}

/** Starts the schedules of each context after the first attempt at recovery; ends with them. */
function startJobs(
  { deploy }: Settings,
  { assembly, boards, recovered }: {
    assembly: Assembly;
    boards: JobBoards;
    recovered: Promise<unknown>;
  },
  signal: AbortSignal,
): Promise<unknown> {
  const start = async (context: string) => {
    await recovered;
    if (!signal.aborted) await boards.of(context).start(deploy.schedulerEnabled);
  };
  return forEachContext(assembly, start, signal);
}

/** Milliseconds between attempts at recovery: the first pause, which doubles, and the longest. */
const RECOVERY_PAUSE_MS = { first: 5_000, longest: 60_000 } as const;

interface RecoveryParts {
  readonly assembly: Assembly;
  readonly intake: Intake;
  readonly pipeline: Pipeline;
  /** Ids of intents that an earlier process left open and that recovery has not taken up yet. */
  readonly due: Set<string>;
}

/** Contexts whose engines interrupted work waits for; `all` when recovery failed altogether. */
type Waiting = ReadonlySet<string> | "all";

/**
 * Finishes interrupted work, as a run that people see, on every engine that answers. Returns after
 * {@link HEAD_START_MS} at the latest; the work goes on, as repositories decide how long it takes.
 */
async function tryRecover(
  { log, clock }: System,
  { assembly: { engines, ledger, pipelineParts }, intake, pipeline, due }: RecoveryParts,
  signal: AbortSignal,
): Promise<Waiting> {
  // As early as it can be told: work may be meant for whatever we run in.
  const { own } = await engines.of(DEFAULT_CONTEXT);
  void own(signal).catch(() => {});
  const sayWaits = (error: unknown) =>
    log.error(`interrupted work waits for the engine: ${messageOf(error)}`, { error });
  try {
    const open = ledger.interrupted().filter(({ id }) => due.has(id));
    // Work waits for engines that are down, so that not every attempt shows as a failed run.
    const away = open.length === 0
      ? new Map<string, unknown>()
      : await awayContexts(await pipelineParts(signal), open, signal);
    if (away.has(DEFAULT_CONTEXT)) sayWaits(away.get(DEFAULT_CONTEXT));
    const ready = open.filter(({ key }) => !away.has(key.context));
    ready.forEach(({ id }) => due.delete(id));
    const finish = async () => {
      const work = { kind: "recovery", trigger: "poll", origin: "automatic" } as const;
      if (ready.length > 0) await intake.submit(work).finished;
      if (away.size === 0) await pipeline.recover(signal);
    };
    await within(finish(), HEAD_START_MS, clock, signal);
    return new Set(away.keys());
  } catch (error) {
    if (signal.aborted) return new Set();
    sayWaits(error);
    return "all";
  }
}

/**
 * Retries recovery by `keep` until nothing waits. `able` resolves once an attempt has not failed
 * altogether, `settled` when nothing waits for the engine of the default context.
 */
function afterRecovery(
  recovered: Promise<Waiting>,
  keep: (onWaiting: (waiting: Waiting) => void) => Promise<void>,
): { readonly [When in "finished" | "able" | "settled"]: Promise<void> } {
  const [able, settled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const note = (waiting: Waiting) => {
    if (waiting === "all") return;
    able.resolve();
    if (!waiting.has(DEFAULT_CONTEXT)) settled.resolve();
  };
  const finished = recovered.then(async (waiting) => {
    note(waiting);
    if (waiting === "all" || waiting.size > 0) await keep(note);
    note(new Set());
  });
  return { finished, able: able.promise, settled: settled.promise };
}

/**
 * Retries recovery until no engine is away, and tells `onWaiting` the contexts that still wait.
 * Without polls nothing else would take interrupted work up again.
 */
async function keepRecovering(
  system: System,
  parts: RecoveryParts & { readonly onWaiting: (waiting: Waiting) => void },
  signal: AbortSignal,
): Promise<void> {
  const { first, longest } = RECOVERY_PAUSE_MS;
  for (let pause: number = first; !signal.aborted; pause = Math.min(2 * pause, longest)) {
    await system.clock.sleep(pause, signal).catch(() => {});
    if (signal.aborted) return;
    const waiting = await tryRecover(system, parts, signal);
    parts.onWaiting(waiting);
    if (waiting !== "all" && waiting.size === 0) return;
  }
}
