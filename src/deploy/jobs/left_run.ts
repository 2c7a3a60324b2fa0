import {
  BEHAVIOUR_LABELS,
  LAST_OUTPUT,
  lastWithin,
  type NotedJob,
  type NotedRun,
} from "../../model/mod.ts";
import type { FoundJob } from "./found_job.ts";

/** Characters of a failed run's output that its record keeps. */
const KEPT_OUTPUT = 16 * 1024;

/** Port for the record of what a run stops, or has stopped and could not start again, that no label tells. */
export interface RunNotes {
  get(): NotedRun | undefined;
  /** Throws where it cannot be recorded: nothing may be stopped then. */
  set(run: NotedRun): void;
  remove(): void;
}

/** Whether a run was one of a swarm, by what it has stopped: services, of which it knows the tasks as well. */
export function isInSwarm({ stops }: Pick<NotedRun, "stops">): boolean {
  return stops.some((each) => typeof each !== "string");
}

/** The job of a noted run: that which was found, unless the run was one of containers, and that is of a swarm. */
export function jobOfRun(found: FoundJob | undefined, run: NotedJob | undefined) {
  if (run === undefined) return found;
  const isIts = found !== undefined && isInSwarm(run) === (found.swarm !== undefined);
  return isIts ? found : notedJob(run);
}

/** A job of which only a note on a run is found: its container or service is gone, or no job any more. */
export function notedJob({ key, service, ...run }: NotedJob): FoundJob {
  const stops = (run.stopServices ?? []).map(({ project, service }) => `${project}/${service}`);
  const { jobEnabled, jobStopServices } = BEHAVIOUR_LABELS;
  const container = {
    id: run.id,
    name: isInSwarm(run) ? `${key.name}_${service}` : `${key.name}-${service}-1`,
    service,
    state: "exited",
    health: "none",
    exitCode: undefined,
    imageId: "",
    labels: { [jobEnabled]: "false", [jobStopServices]: stops.join() },
  } as const;
  const found = { key, service, container, scale: 0, executions: [] };
  return isInSwarm(run) ? { ...found, swarm: run.id } : found;
}

/** Those of `all` that are not the same as one before. */
export function different<T>(all: readonly T[]): T[] {
  return [...new Map(all.map((each) => [JSON.stringify(each), each])).values()];
}

/** Why there is nothing to wait for of a run that was taken over. */
export function whyNotAwaited(noun: string, left: NotedRun | undefined, made: unknown): string {
  if (left?.isOver === true) return "its last run ended before all that it had stopped was started";
  return made === undefined
    ? `its ${noun} is gone: nobody knows how it ended`
    : `the process that made its ${noun} ended before it was started`;
}

/** The end of a run's output, to end a sentence with; empty without output. */
export function lastOutput(lines: readonly string[]): string {
  const text = lastWithin(lines.join("\n").trim(), KEPT_OUTPUT).trim();
  if (text === "") return "";
  return text.includes("\n") ? `${LAST_OUTPUT}${text}` : `: ${text}`;
}
