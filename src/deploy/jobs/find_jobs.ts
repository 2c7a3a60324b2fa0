import { isOneOff } from "../../docker/containers.ts";
import { isSwarmTask } from "../../docker/observed_container.ts";
import type { Engine } from "../../docker/engine.ts";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  byText,
  COMPOSE_LABELS,
  isOurs,
  JOB_INFIX,
  LABELS,
  MIGRATION_LABEL_PREFIX,
  type ObservedContainer,
} from "../../model/mod.ts";
import { findSwarmJobs } from "./find_swarm_jobs.ts";
import type { FoundJob } from "./found_job.ts";

/**
 * Every service of a context's engine with a job label, sorted by stack and name, including those
 * of the swarm if the engine is a manager.
 */
export async function findJobs(
  engine: Engine,
  { context, isManager, of }: {
    readonly context: string;
    readonly isManager: boolean;
    /** Restricts the search to the containers of a stack, or of one service; in a swarm to the stack. */
    readonly of?: { readonly project: string; readonly service?: string } | undefined;
  },
  signal: AbortSignal,
): Promise<FoundJob[]> {
  const inSwarm = isManager
    ? await findSwarmJobs(engine, { context, stack: of?.project }, signal)
    : [];
  const { jobEnabled } = BEHAVIOUR_LABELS;
  // An engine finds what has all labels, so one service's containers are asked for by its name alone.
  const wanted = of === undefined
    ? [jobEnabled, jobEnabled.replace(/^stackwright\./, MIGRATION_LABEL_PREFIX)]
      .map((label) => ({ [label]: undefined }))
    : [{
      [COMPOSE_LABELS.project]: of.project,
      ...(of.service === undefined ? {} : { [COMPOSE_LABELS.service]: of.service }),
    }];
  const lists = await Promise.all(wanted.map((labels) => engine.listContainers(labels, signal)));
  const isCalled = (each: ObservedContainer) =>
    behaviourLabel(each.labels, jobEnabled) !== undefined;
  const all = new Map(
    // Swarm tasks are found through their service.
    lists.flat().filter((each) => !isSwarmTask(each) && isCalled(each))
      .map((each) => [each.id, each]),
  );
  const services = Map.groupBy(all.values(), (each) => {
    const project = each.labels[COMPOSE_LABELS.project] ?? "";
    return JSON.stringify(project === "" ? [each.id] : [project, each.service]);
  });
  return [...[...services.values()].flatMap((own) => jobOf(context, own)), ...inSwarm]
    .sort((a, b) =>
      byText(`${a.key.name}/${a.container.name}`, `${b.key.name}/${b.container.name}`)
    );
}

function jobOf(context: string, all: readonly ObservedContainer[]): FoundJob[] {
  // Where we made some, those of others only have their names, and must not stand for the service.
  const ours = all.filter(isOurs);
  const containers = ours.length > 0 ? ours : all;
  const own = containers.filter((each) => !isOneOff(each))
    .sort((a, b) => byText(a.name, b.name));
  const executions = containers.filter(isExecution);
  const container = own.find(({ state }) => state === "running") ?? own[0] ?? executions[0];
  if (container === undefined) return [];
  const name = container.labels[COMPOSE_LABELS.project] ?? "";
  return [{
    key: { context, name },
    service: container.service,
    container,
    scale: own.length,
    executions,
  }];
}

/**
 * Whether a container was made for one run of a job. Its name tells, too: an image may carry the
 * labels, which a container for a hook (`pre_start`) would have from it, but no image names one.
 */
export function isExecution(container: Pick<ObservedContainer, "labels" | "name">): boolean {
  const { labels: { [LABELS.jobRun]: run = "" }, name } = container;
  return isOneOff(container) && run !== "" && name.endsWith(`${JOB_INFIX}${run}`);
}
