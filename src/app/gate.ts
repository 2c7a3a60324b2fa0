import { createOperations, type Operations, stackStatuses } from "../api/mod.ts";
import { parsePollRequest } from "../config/mod.ts";
import { createIntake, type Execute, type Intake } from "../intake.ts";
import type { Run, Work } from "../model/mod.ts";
import { createPipeline } from "../pipeline.ts";
import { reduceTargets } from "../plan/mod.ts";
import { shownModel } from "../prepare/mod.ts";
import { createRuns } from "../record/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { formatTime } from "../system/mod.ts";
import { checkSchedule } from "../trigger/mod.ts";
import type { Assembly } from "./assemble.ts";
import { createProjects } from "./projects.ts";
import type { System } from "./system.ts";

/** The way in: everything that clients, commands and triggers can ask for. */
export interface Gate {
  readonly intake: Intake;
  readonly operations: Operations;
}

/** Parts that differ between the service and a command. */
export interface GateParts {
  readonly assembly: Assembly;
  readonly execute: Execute;
  /** Told of every run that ended, with the work behind it. */
  readonly onEnd?: (run: Run, work: Work) => void;
}

/** Opens the way in to an assembly. */
export function createGate(
  settings: Settings,
  system: System,
  { assembly, execute, onEnd }: GateParts,
): Gate {
  const { clock, log, redactor } = system;
  const { ledger, engine, ids, pipelineParts } = assembly;
  const { timeZone } = settings;
  const runs = createRuns({ clock, kept: ledger.runs });
  const intake = createIntake({
    runs,
    performers: { sync: execute },
    conclude: (targets, facts) =>
      reduceTargets(targets, {
        ...facts,
        formatTime: (instant) => formatTime(instant, timeZone),
      }),
    clock,
    ids,
    redactor,
    log,
    ...(onEnd === undefined ? {} : { onEnd }),
  });
  const check = (schedule: string) => checkSchedule(schedule, { now: clock.now(), timeZone });
  const operations = createOperations({
    intake,
    runs,
    checkEngine: (signal) => engine.info(signal),
    projects: createProjects(assembly, clock),
    deployments: (signal) => stackStatuses({ engine, ledger, runs, clock }, signal),
    parsePollRequest: (value) => parsePollRequest(value, { checkSchedule: check }),
    ledger,
    shownModel: async (recorded, signal) =>
      shownModel(await pipelineParts(signal), ledger.open(recorded)),
    clock,
    timeZone,
  });
  return { intake, operations };
}

/** The same for a command, which finishes interrupted work before it does any other. */
export function createCommandGate(
  settings: Settings,
  system: System,
  assembly: Assembly,
): Gate {
  return createGate(settings, system, {
    assembly,
    execute: async (work, reporter, signal) => {
      const pipeline = createPipeline(await assembly.pipelineParts(signal));
      await pipeline.recover(signal);
      await pipeline.execute(work, reporter, signal);
    },
  });
}
