import {
  createOperations,
  type JobFacts,
  type Operations,
  type StackScope,
  stackStatuses,
} from "../api/mod.ts";
import { parsePollRequest } from "../config/mod.ts";
import { createIntake, type Intake, type IntakeParts, type Performers } from "../intake.ts";
import type { Run, StackKey, Work } from "../model/mod.ts";
import { createPipeline, type Pipeline } from "../pipeline.ts";
import { checkSchedule, nextFiring, reduceTargets } from "../plan/mod.ts";
import { shownModel } from "../prepare/mod.ts";
import { createRuns, type RunStore } from "../record/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { formatTime, SILENT_LOG } from "../system/mod.ts";
import { asPolled } from "./as_polled.ts";
import type { Assembly } from "./assemble.ts";
import { contextsOf } from "./each_context.ts";
import { nothingNextOf } from "./next_poll.ts";
import { planAside } from "./plan_aside.ts";
import { onceDone } from "./remember.ts";
import { runUnderWay } from "./run_under_way.ts";
import { createProjects } from "./projects.ts";
import { createStacks } from "./stacks.ts";
import type { System } from "./system.ts";

/** Everything that clients, commands and triggers can ask for. */
export interface Gate {
  readonly intake: Intake;
  readonly runs: Pick<RunStore, "subscribe" | "list" | "get">;
  readonly operations: Operations;
}

/** Parts that differ between the service and a command. */
export interface GateParts {
  readonly assembly: Assembly;
  readonly performers: Performers;
  readonly onEnd?: (run: Run, work: Work) => void;
  /** Whether statuses of all stacks are read once: a command ends before they are out of date. */
  readonly asksOnce?: boolean;
  /** The scheduled jobs of a context; commands have none. */
  readonly jobs?: (context: string, signal: AbortSignal) => Promise<readonly JobFacts[]>;
}

/** Reporter of a run that nobody watches. */
const SILENT = { describe() {}, target() {} };

/** Makes the gate to an assembly. */
export function createGate(
  settings: Settings,
  system: System,
  { assembly, performers, onEnd, asksOnce = false, jobs = () => Promise.resolve([]) }: GateParts,
): Gate {
  const { clock, log, redactor } = system;
  const { ledger, engine, engines, ids, pipelineParts, windows } = assembly;
  const { timeZone } = settings;
  const limit = system.engineLimitMs === undefined ? {} : { limitMs: system.engineLimitMs };
  const engineOf = async (context: string) => (await engines.of(context)).client;
  const runs = createRuns({ clock, kept: ledger.runs });
  const showTime = (instant: Date) => formatTime(instant, timeZone);
  const conclude: IntakeParts["conclude"] = (targets, facts) =>
    reduceTargets(targets, { ...facts, formatTime: showTime });
  const working = { runs, performers, conclude, clock, ids, redactor, log };
  const intake = createIntake({ ...working, ...(onEnd === undefined ? {} : { onEnd }) });
  const nextRun = (schedule: string) =>
    settings.deploy.schedulerEnabled ? nextFiring(schedule, clock.now(), timeZone) : undefined;
  const underWay = (key: StackKey) => runUnderWay(runs, key);
  const asking = { clock, change: intake.change.bind(intake), underWay };
  const nothingNext = nothingNextOf(settings, ledger);
  const looking = { engineOf, ledger, runs, clock, nextRun, nothingNext, ...limit };
  const statuses = (signal: AbortSignal, scope?: StackScope) =>
    stackStatuses({ ...looking, dataDir: settings.data.dir }, signal, scope);
  const statusesOfAll = onceDone(statuses);
  const check = (schedule: string) => checkSchedule(schedule, { now: clock.now() });
  const operations = createOperations({
    intake,
    runs,
    jobs,
    checkEngine: (signal) => engine.info(signal),
    projects: createProjects(assembly, asking, settings.deploy.watchMs),
    stacks: createStacks(assembly, asking),
    mirrors: () => assembly.mirrors.list(),
    deployments: (signal, scope) =>
      asksOnce && scope.name === undefined ? statusesOfAll(signal) : statuses(signal, scope),
    hasContext: (context) => engines.has(context),
    contexts: async () => [...await engines.names(), ...contextsOf(ledger)],
    parsePollRequest: (value) =>
      parsePollRequest(value, { checkSchedule: check }).map((each) =>
        each.kind === "git" ? asPolled(each, settings, log) : each
      ),
    ledger,
    hosts: { of: engineOf },
    learned: assembly.learned,
    windows,
    shownDigest: (key, digest) => assembly.key.shown(key, digest),
    shownModel: async (recorded, signal) =>
      await shownModel(await pipelineParts(signal), ledger.open(recorded)),
    polls: settings.polls.map(({ request }) => request),
    plan: (request, signal) => {
      const run = { request, trigger: "poll", origin: "manual" } as const;
      return planAside(settings, system, { run, reporter: SILENT }, signal);
    },
    clock,
    timeZone,
  });
  return { intake, runs, operations };
}

/** The gate of a command. */
export interface CommandGate extends Gate {
  /** The error that ended the last work, if any: it tells more than the failed run. */
  readonly thrown: () => unknown;
}

/** Makes the gate of a command, which finishes interrupted work of a stack before deploying it. */
export function createCommandGate(
  settings: Settings,
  system: System,
  assembly: Assembly,
): CommandGate {
  let thrown: unknown;
  const remembering =
    (use: (pipeline: Pipeline) => Promise<void>) => async (signal: AbortSignal) => {
      try {
        const parts = await assembly.pipelineParts(signal);
        // Interrupted work of other stacks is left to the service, which may be about to start.
        await use(createPipeline({ ...parts, waitsFor: () => true }));
      } catch (error) {
        thrown = error;
        throw error;
      }
    };
  const gate = createGate(settings, { ...system, log: SILENT_LOG }, {
    assembly,
    asksOnce: true,
    performers: {
      sync: (work, reporter, signal) =>
        remembering((pipeline) => pipeline.execute(work, reporter, signal))(signal),
      rollback: (work, reporter, signal) =>
        remembering((pipeline) => pipeline.rollBack(work, reporter, signal))(signal),
    },
  });
  return { ...gate, thrown: () => thrown };
}
