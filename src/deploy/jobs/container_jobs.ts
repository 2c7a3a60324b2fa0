import type { Engine } from "../../docker/engine.ts";
import type { EngineClient } from "../../docker/mod.ts";
import { COMPOSE_LABELS, errors, type StackOwner } from "../../model/mod.ts";
import type { Clock } from "../../system/mod.ts";
import { isOneOff } from "../../docker/containers.ts";
import { tarOf } from "../engine/tar.ts";
import { isDown } from "../left_orphans.ts";
import type { RunsEngine } from "./end_run.ts";
import { makeExecution, stopsOf } from "./execution.ts";
import type { FoundJob } from "./found_job.ts";
import type { InTurn, JobEngine, JobOrder } from "./job_run.ts";

interface ContainerJobFacts {
  readonly engine: EngineClient;
  readonly clock: Clock;
  /** Few are made at once. */
  readonly making: InTurn;
  readonly found: FoundJob;
  readonly spec: JobOrder;
  readonly nextId: () => string;
  readonly owner?: StackOwner | undefined;
}

/** What runs of jobs in containers have made and stopped. */
export function containerRuns(
  engine: Pick<Engine, "inspectContainer" | "startContainer" | "removeContainer">,
): RunsEngine<string> {
  return {
    async made(id, signal) {
      const { container } = await engine.inspectContainer(id, signal) ?? {};
      return container && {
        stops: stopsOf(container.labels),
        isStarted: container.state !== "created",
        goesOn: !isDown(container),
      };
    },
    async stackOf(id, signal) {
      const { container } = await engine.inspectContainer(id, signal) ?? {};
      return container?.labels[COMPOSE_LABELS.project] ?? "";
    },
    startAgain: (id, signal) => engine.startContainer(id, signal),
    remove: (id, signal) => engine.removeContainer(id, { force: true, volumes: true }, signal),
  };
}

/** Runs jobs in containers: the job's own container again, or a new one made like it. */
export function containerJobs(facts: ContainerJobFacts): JobEngine<string> {
  const { engine, found: { container, scale }, spec: { stopServices, stopTimeoutSeconds } } = facts;
  const toStop = async (signal: AbortSignal): Promise<string[]> => {
    const lists = await Promise.all(stopServices.map(({ project, service }) => {
      const labels = { [COMPOSE_LABELS.project]: project, [COMPOSE_LABELS.service]: service };
      return engine.listContainers(labels, signal);
    }));
    const running = lists.flat().filter((each) => each.state === "running" && !isOneOff(each));
    return [...new Set(running.map(({ id }) => id))];
  };
  return {
    noun: "container",
    toStop,
    stop: (id, signal) => engine.stopContainer(id, stopTimeoutSeconds, signal),
    ...containerRuns(engine),
    requireRestart() {
      if (scale === 1) return;
      throw errors.config_invalid(
        `a job that restarts its container has one, and this has ${scale}: use scale 1 or one_off`,
      );
    },
    async restart(signal) {
      const { id, state } = container;
      // Not restarted, which an engine finishes whoever the stack is handed over to meanwhile.
      if (state === "running") await engine.stopContainer(id, undefined, signal);
      signal.throwIfAborted();
      // The existing container needs neither image nor files again.
      await engine.startContainer(id, signal);
      return id;
    },
    halt: (signal) => engine.stopContainer(container.id, 0, signal),
    async make(told, files, signal) {
      const stops = await toStop(signal);
      const execution = { runId: facts.nextId(), stops, owner: facts.owner };
      // The name leads to it as the id does.
      const making = (id: string) => told({ id, stops });
      const { id } = await facts.making(
        () => makeExecution(engine, container.id, execution, signal, making),
        signal,
      );
      told({ id, stops });
      if (files.length > 0) {
        const seconds = Math.floor(facts.clock.now().getTime() / 1000);
        await engine.unpackInto(id, tarOf(files, seconds), signal);
      }
      return (within) => engine.startContainer(id, within);
    },
    exitCode: (id, signal) => engine.waitContainer(id, signal),
    async cutShort(id, keep, signal) {
      await engine.stopContainer(id, undefined, signal);
      await keep();
    },
    printed: (id, lines, signal) => engine.containerLogs(id, lines, signal),
  };
}
