import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  errors,
  filled,
  messageOf,
  MOST_CONTAINERS,
  parseDuration,
  type StackKey,
  type StackwrightError,
  writtenLabel,
} from "../model/mod.ts";
import { LONGEST_STOP } from "./reconciliation_options.ts";
import { checkScheduleShape, LONGEST_SCHEDULE } from "./schedule_shape.ts";

/** Ways to run a job: start its own container, or one that is made for the run. */
const JOB_MODES = ["restart", "one_off"] as const;

const JOB_NOTIFICATIONS = ["all", "none", "success", "failure"] as const;

/** A service that a job stops while it runs. */
interface StopService {
  readonly project: string;
  readonly service: string;
}

/** A service whose labels make it a job. */
export interface LabelledJob {
  readonly key: StackKey;
  readonly service: string;
  /** Name of its container, or of its service in a swarm. */
  readonly name: string;
  readonly mode: "container" | "swarm";
  /** The job that its labels describe; absent when `problem` says what is wrong with them. */
  readonly spec?: JobSpec;
  readonly problem?: string;
}

/** A scheduled job, as the labels of its service describe it. */
export interface JobSpec {
  /** Whether it runs here: false, too, where its labels name an instance that runs it. */
  readonly enabled: boolean;
  /** Cron expression, with its zone prefix if it has one; empty where it is not enabled. */
  readonly schedule: string;
  readonly mode: (typeof JOB_MODES)[number];
  /** Whether a firing is skipped while the previous run is under way. */
  readonly skipRunning: boolean;
  readonly notifyOn: (typeof JOB_NOTIFICATIONS)[number];
  readonly stopServices: readonly StopService[];
  /** Seconds that the stopped services have to end; absent for their own stop timeouts. */
  readonly stopTimeoutSeconds?: number;
  /** Tasks of a one-off run in a swarm; one when absent. */
  readonly swarmReplicas?: number;
  /** Seconds after which a run is ended and has failed; none when absent. */
  readonly maxSeconds?: number;
}

/** Most services that one job may stop: each is looked up before every run. */
const MOST_STOPPED = 100;

type Labels = Readonly<Record<string, string>>;

/**
 * Reads the job labels of a service; `undefined` where it has no label that says it may be a job.
 *
 * Throws `config_invalid`, naming the label.
 */
export function readJobLabels(labels: Labels, own: StopService): JobSpec | undefined {
  const L = BEHAVIOUR_LABELS;
  if (behaviourLabel(labels, L.jobEnabled) === undefined) return undefined;
  const enabled = flag(labels, L.jobEnabled, false);
  const schedule = (behaviourLabel(labels, L.jobSchedule) ?? "").trim();
  if (enabled) requireSchedule(labels, schedule);
  const timeout = seconds(labels, L.jobStopTimeout, LONGEST_STOP);
  const most = seconds(labels, L.jobMaxDuration);
  const tasks = positive(labels, L.jobSwarmReplicas);
  if (enabled) flag(labels, L.jobWaitRunning, true);
  return {
    enabled: enabled && !isOthersJob(labels),
    schedule,
    mode: modeOf(labels),
    skipRunning: flag(labels, L.jobSkipRunning, false),
    notifyOn: choice(labels, L.jobNotifyOn, JOB_NOTIFICATIONS, "all"),
    stopServices: stopServices(labels, own),
    ...filled({ stopTimeoutSeconds: timeout, swarmReplicas: tasks, maxSeconds: most }),
  };
}

/** Whether a job is left to an instance that its labels name. */
export function isOthersJob(labels: Labels): boolean {
  return (behaviourLabel(labels, BEHAVIOUR_LABELS.jobOwner) ?? "").trim() !== "";
}

function requireSchedule(labels: Labels, schedule: string): void {
  const label = BEHAVIOUR_LABELS.jobSchedule;
  if (schedule === "") throw invalid(labels, label, "a job that is enabled needs a schedule");
  const [, every] = schedule.length > LONGEST_SCHEDULE
    ? []
    : /^(?:(?:CRON_)?TZ=\S+\s+)?@every\s+(.*)$/.exec(schedule) ?? [];
  const problem = every === undefined ? checkScheduleShape(schedule) : everyProblem(every);
  if (problem !== undefined) throw invalid(labels, label, problem);
}

/** The fault in an `@every` of a job, whose shortest interval is a second. */
function everyProblem(text: string): string | undefined {
  try {
    if (parseDuration(text) >= 1) return undefined;
  } catch (error) {
    return messageOf(error);
  }
  return "expected at least 1s after @every";
}

function modeOf(labels: Labels): JobSpec["mode"] {
  const label = BEHAVIOUR_LABELS.jobMode;
  // An old name in doco-cd.
  if (behaviourLabel(labels, label)?.trim() === "one_shot") return "one_off";
  return choice(labels, label, JOB_MODES, "restart");
}

function flag(labels: Labels, label: string, fallback: boolean): boolean {
  const text = behaviourLabel(labels, label)?.trim().toLowerCase() ?? "";
  if (text === "") return fallback;
  if (["1", "t", "true"].includes(text)) return true;
  if (["0", "f", "false"].includes(text)) return false;
  throw invalid(labels, label, `expected true or false, found ${JSON.stringify(text)}`);
}

function choice<Word extends string>(
  labels: Labels,
  label: string,
  words: readonly Word[],
  fallback: Word,
): Word {
  const text = behaviourLabel(labels, label)?.trim() ?? "";
  if (text === "") return fallback;
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  throw invalid(
    labels,
    label,
    `expected one of ${words.join(", ")}; found ${JSON.stringify(text)}`,
  );
}

function seconds(labels: Labels, label: string, most = Infinity): number | undefined {
  const text = behaviourLabel(labels, label)?.trim() ?? "";
  if (text === "") return undefined;
  try {
    const value = parseDuration(text);
    if (value > most) throw errors.bad_request(`expected at most ${most} seconds`);
    if (value > 0) return value;
  } catch (error) {
    throw invalid(labels, label, messageOf(error));
  }
  throw invalid(labels, label, "expected more than 0 seconds");
}

function positive(labels: Labels, label: string): number | undefined {
  const text = behaviourLabel(labels, label)?.trim() ?? "";
  if (text === "") return undefined;
  if (/^[1-9]\d{0,5}$/.test(text) && Number(text) <= MOST_CONTAINERS) return Number(text);
  const found = JSON.stringify(text);
  throw invalid(
    labels,
    label,
    `expected a whole number from 1 to ${MOST_CONTAINERS}, found ${found}`,
  );
}

function stopServices(labels: Labels, own: StopService): StopService[] {
  const label = BEHAVIOUR_LABELS.jobStopServices;
  const entries = (behaviourLabel(labels, label) ?? "").split(",", MOST_STOPPED + 1)
    .map((each) => each.trim());
  if (entries.length > MOST_STOPPED) {
    throw invalid(labels, label, `it names more services than ${MOST_STOPPED}, which is the most`);
  }
  return entries.filter((entry) => entry !== "").map((entry) => {
    const parts = entry.split("/").map((each) => each.trim());
    const [project = "", service = ""] = parts.length === 1 ? [own.project, ...parts] : parts;
    if (parts.length > 2 || project === "" || service === "") {
      throw invalid(
        labels,
        label,
        `expected service or project/service, found ${JSON.stringify(entry)}`,
      );
    }
    if (project === own.project && service === own.service) {
      throw invalid(labels, label, "a job cannot stop itself");
    }
    return { project, service };
  });
}

function invalid(labels: Labels, label: string, why: string): StackwrightError {
  return errors.config_invalid(`label ${writtenLabel(labels, label)}: ${why}`);
}
