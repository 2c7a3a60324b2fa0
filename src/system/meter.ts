/** Upper bounds of the buckets of durations, in seconds. */
const DURATIONS = [
  0.005,
  0.01,
  0.025,
  0.05,
  0.1,
  0.25,
  0.5,
  1,
  2.5,
  5,
  10,
  20,
  30,
  60,
  120,
  300,
  600,
] as const;

/** The definition of a metric. Names carry no prefix here; whoever shows them adds it. */
export interface MetricDefinition<Label extends string = string> {
  readonly kind: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

const JOB = ["context", "stack", "job", "mode", "execution_mode"] as const;
const STACK = ["repository", "deployment", "context"] as const;

/**
 * Every metric, as a table: what is measured, what is shown and what is documented cannot drift.
 * Label values come from our own configuration and from authenticated input only, or anybody who
 * reaches a port could fill the memory.
 */
export const METRICS = {
  polls_total: counter("Finished runs of polls.", "repository"),
  poll_errors_total: counter("Runs of polls that failed.", "repository"),
  poll_duration_seconds: histogram("Duration of runs of polls.", "repository"),
  webhook_requests_total: counter(
    "Webhooks that proved themselves, whatever came of them.",
    "repository",
  ),
  webhook_errors_total: counter("Runs of webhooks that failed.", "repository"),
  webhook_duration_seconds: histogram("Duration of runs of webhooks.", "repository"),
  mcp_requests_total: counter("Calls of tools whose arguments were right.", "tool"),
  mcp_errors_total: counter("Calls of tools that were answered as errors.", "tool"),
  mcp_request_duration_seconds: histogram("Duration of calls of tools.", "tool"),
  deployments_total: counter("Stacks that were deployed or destroyed.", ...STACK),
  deployment_errors_total: counter("Deployments that failed, preparation included.", ...STACK),
  deployment_duration_seconds: histogram("Duration of what ended as a deployment.", ...STACK),
  deployment_stage_duration_seconds: histogram(
    "Duration of a deployment's stages: decide touches nothing, deploy does.",
    ...STACK,
    "stage",
    "outcome",
  ),
  scheduled_runs_total: counter("Runs of jobs, whatever came of them.", ...JOB),
  scheduled_run_errors_total: counter("Runs of jobs that failed.", ...JOB),
  scheduled_run_duration_seconds: histogram("Duration of runs of jobs.", ...JOB),
  scheduled_runs_active: gauge("Runs of jobs under way.", ...JOB),
  scheduled_run_skipped_total: counter("Firings of jobs that were left out.", ...JOB, "reason"),
  sync_window_blocked_total: counter(
    "Deployments that a sync window deferred, once for each window and look.",
    ...STACK,
    "window",
  ),
  deployment_queue_duration_seconds: histogram(
    "Time deployments waited for a slot (MAX_CONCURRENT_DEPLOYMENTS).",
    "repository",
    "outcome",
  ),
  deployment_admission_duration_seconds: histogram(
    "Time targets waited before they were looked at: for their stack, or for a slot.",
    "repository",
    "phase",
    "outcome",
  ),
  pre_deploy_operation_duration_seconds: histogram(
    "Duration of the operations of a preparation.",
    "operation",
    "outcome",
  ),
  source_preparation_duration_seconds: histogram(
    "Time until the revision of a source was known.",
    "source",
    "outcome",
  ),
  deployments_active: gauge("Deployments under way.", "repository"),
  deployments_queued: gauge("Deployments that wait for a slot.", "repository"),
  pre_deployments_active: gauge("Preparations under way.", "repository"),
  pre_deployments_queued: gauge("Preparations that wait for a slot.", "repository"),
  reconciliation_restarts_total: counter(
    "Containers that were restarted after an event.",
    ...STACK,
  ),
  reconciliation_suppressed_total: counter(
    "Unhealthy containers that were left alone because they were restarted too often.",
    ...STACK,
  ),
  git_mirror_compactions_total: counter(
    "Mirrors of Git repositories that a compaction came to, by what became of them.",
    "repository",
    "mode",
    "result",
  ),
  git_mirror_compaction_duration_seconds: histogram(
    "Duration of the compaction of a mirror.",
    "repository",
    "mode",
  ),
  engine_rollbacks_total: counter(
    "Updates of services that a swarm took back or stopped by itself, other than in a deployment.",
    ...STACK,
  ),
  mutations_total: counter(
    "Calls that change the engine: our own, and commands of compose that make changes.",
    "by",
  ),
  info: gauge("Always 1; what runs.", "version", "log_level", "start_time"),
} as const satisfies Readonly<Record<string, MetricDefinition>>;

/** Name of a metric of {@link METRICS}. */
export type MetricName = keyof typeof METRICS;

type MetricNamed<Kind extends MetricDefinition["kind"]> = {
  [Name in MetricName]: (typeof METRICS)[Name]["kind"] extends Kind ? Name : never;
}[MetricName];

/** The labels of a metric: all of them, each with a value. */
export type MetricLabels<Name extends MetricName> = Readonly<
  Record<(typeof METRICS)[Name]["labels"][number], string>
>;

/** The port that measurements go to. No call throws or waits. */
export interface Meter {
  /** Adds to a counter; one by default. */
  count<Name extends MetricNamed<"counter">>(
    name: Name,
    labels: MetricLabels<Name>,
    by?: number,
  ): void;
  /** Moves a gauge up, or down by a negative number. */
  move<Name extends MetricNamed<"gauge">>(name: Name, labels: MetricLabels<Name>, by: number): void;
  /** Records one duration in seconds. */
  observe<Name extends MetricNamed<"histogram">>(
    name: Name,
    labels: MetricLabels<Name>,
    seconds: number,
  ): void;
}

/** Measures nothing: for commands that end at once, and for tests. */
export const noMeter: Meter = { count() {}, move() {}, observe() {} };

function counter<Label extends string>(help: string, ...labels: Label[]) {
  return { kind: "counter", help, labels } as const;
}

function gauge<Label extends string>(help: string, ...labels: Label[]) {
  return { kind: "gauge", help, labels } as const;
}

function histogram<Label extends string>(help: string, ...labels: Label[]) {
  return { kind: "histogram", help, labels, buckets: DURATIONS } as const;
}
