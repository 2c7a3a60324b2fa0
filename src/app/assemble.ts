import type { EngineClient } from "../docker/mod.ts";
import {
  DEFAULT_CONTEXT,
  type SourceRequest,
  type StackKey,
  type TargetListener,
  type ToldTarget,
} from "../model/mod.ts";
import {
  createEncryptedFiles,
  type Host,
  type Hosts,
  plainSource,
  RenderedModels,
} from "../prepare/mod.ts";
import { handedOverWith, isStrangers, learnedSoon, type PipelineParts } from "../pipeline/mod.ts";
import type { InstanceKey, Ledger } from "../record/mod.ts";
import { createSyncWindows, type SyncWindows } from "../plan/mod.ts";
import { createSops, createSopsProgram, type ExternalSecrets } from "../secrets/mod.ts";
import type { Settings } from "../settings/mod.ts";
import {
  createUrlRewriter,
  type MirrorStore,
  NewestCommits,
  reachedAs,
  type Source,
  sourceByKind,
  sourceKey,
  sourceLocation,
} from "../source/mod.ts";
import {
  boundFairly,
  createIds,
  createSlots,
  createTurns,
  createWatchedLock,
  type Ids,
  type Meter,
  noMeter,
  Shares,
  sweepScratch,
  type WatchedLock,
} from "../system/mod.ts";
import { decisionListener, logListener, meterListener } from "../tell/mod.ts";
import { createEngines, type Engines, protectedPaths } from "./engines.ts";
import { externalSecrets, httpClient } from "./external_secrets.ts";
import { hideSecrets } from "./hide_secrets.ts";
import { recordedSecrets } from "./recorded_secrets.ts";
import { createHosts } from "./hosts.ts";
import { limitedLearning } from "./limited_learning.ts";
import { type Ask, onceDone } from "./remember.ts";
import { nextPoll, noteAsked } from "./next_poll.ts";
import { becomeOnlyService } from "./only_service.ts";
import type { System } from "./system.ts";
import { warnOfClosed } from "./warn_of_closed.ts";
import { copyState, openState, type State, type StateUse } from "./open_state.ts";
import { createSource } from "./create_source.ts";
import { NO_COLLECTOR, treeCollector } from "./tree_collector.ts";
import type { SyncWindow } from "../config/mod.ts";
import { passedVariables } from "./engine_environment.ts";

/** Everything below the triggers and faces, ready to work. */
export interface Assembly {
  readonly ids: Ids;
  readonly ledger: Ledger;
  /** This installation's key. */
  readonly key: InstanceKey;
  /** The engine of the default context. */
  readonly engine: EngineClient;
  readonly engines: Engines;
  /** Listeners to what becomes of stacks, besides the record of a run. */
  readonly listeners: TargetListener[];
  /** Allows one piece of work on a stack at a time, whoever asks for it. */
  readonly stackLock: WatchedLock;
  readonly windows: SyncWindows;
  /** Makes the pipeline's parts; asks the engine where the data directory is, until it answers. */
  readonly pipelineParts: Ask<PipelineParts>;
  /** The mirrors of Git repositories on disk. */
  readonly mirrors: MirrorStore;
  /** Time until which a source's host wants no timed requests, if it said so. */
  readonly heldUntil: (request: SourceRequest) => Date | undefined;
  /** Waits a short time until texts about a stack can be told; see {@link learnedSoon}. */
  readonly learned: (key: StackKey, signal: AbortSignal) => Promise<void>;
  /** Closes the ledger and all connections. */
  close(): Promise<void>;
}

interface AssemblyOptions extends StateUse {
  /** An empty directory for mirrors, trees and a copied ledger; DATA_DIR is only read then. */
  readonly scratchDir?: string;
  /** Receives measurements; nobody does by default. */
  readonly meter?: Meter;
  /** Whether this is the service, whose sync windows commands have to follow. */
  readonly serves?: boolean;
}

/**
 * Opens the data directory and builds the parts of the pipeline.
 *
 * Throws `data_dir_unusable`, `ledger_unusable` or `settings_invalid`.
 */
export async function assemble(
  settings: Settings,
  system: System,
  { scratchDir, meter = noMeter, serves = false, ...use }: AssemblyOptions = {},
): Promise<Assembly> {
  await hideSecrets(settings, system);
  await removeLeftovers(system);
  const letNextIn = serves ? await becomeOnlyService(system.files, settings.data.dir) : () => {};
  const ids = createIds(system.clock);
  const opened = scratchDir === undefined
    ? await openState(settings, system, { ids, ...use })
    : await copyState(settings, system, { ids, scratchDir });
  const { ledger } = opened;
  const http = await httpClient(settings, system);
  const source = createSource(settings, system, http, scratchDir);
  const engines = createEngines(settings, system, meter);
  const stackLock = createWatchedLock({ clock: system.clock, version: ledger.version });
  const secrets = externalSecrets(settings, system, http);
  // A plan aside has a copy of a ledger whose owner is asked already, and shows models that it rendered.
  const looksOnly = scratchDir !== undefined;
  const stopAsking = looksOnly ? () => {} : askLedger(system, ledger, secrets, serves);
  if (serves) keepPolled(settings, ledger);
  const listeners = listenersOf(system, ledger, { meter, serves });
  const windows = createSyncWindows(windowsInForce(settings, ledger, serves));
  const heldUntil = heldUntilOf(source);
  const pipelineParts = onceDone(async (signal) => {
    const hosts = createHosts(settings, system, { ledger, engines, meter, secrets, looksOnly });
    const host = await hosts.of(DEFAULT_CONTEXT, signal);
    const made = { ...opened, source, meter, listeners, stackLock, secrets, windows, host, hosts };
    return {
      ...parts(settings, system, made),
      trees: settings.deploy.artifactGcEnabled && scratchDir === undefined
        ? treeCollector(settings, system, { ...made, engines })
        : NO_COLLECTOR,
      options: withScratch(pipelineOptions(settings, system, { heldUntil, ledger }), scratchDir),
    };
  });
  return {
    ids,
    ledger,
    key: opened.key,
    engine: engines.default,
    engines,
    listeners,
    stackLock,
    windows,
    pipelineParts,
    mirrors: source.mirrors,
    heldUntil,
    learned: (key, signal) => learnedSoon({ ...system, secrets }, key, signal),
    async close() {
      await source.close();
      http.close();
      engines.close();
      stopAsking();
      ledger.close();
      letNextIn();
    },
  };
}

/** Has the redactor learn the secrets of recorded releases; a command waits for them, the service does not. */
function askLedger(system: System, ledger: Ledger, secrets: ExternalSecrets, serves: boolean) {
  warnOfClosed(system);
  const recorded = recordedSecrets(ledger, secrets, { waits: !serves });
  const learn = limitedLearning(recorded.learned, system.clock);
  const stopAsking = system.redactor.asks(recorded.ask, learn);
  if (serves) recorded.begin();
  return () => {
    stopAsking();
    recorded.end();
  };
}

/** Records which sources are polled, and forgets the failures of those that are not any more. */
function keepPolled(settings: Settings, { sources, service }: Ledger): void {
  noteAsked(service, settings);
  sources.keepPolled(settings.polls.map((each) => sourceKey(each.request) ?? ""));
}

function heldUntilOf(source: ReturnType<typeof createSource>): Assembly["heldUntil"] {
  return ({ kind, url }) =>
    kind === "git" ? source.heldUntil(sourceLocation(kind, url)) : undefined;
}

async function removeLeftovers(system: System): Promise<void> {
  const swept = await sweepScratch(system);
  if (swept > 0) system.log.info(`removed ${swept} temporary directories of killed processes`);
}

function listenersOf(
  { clock, log }: System,
  ledger: Ledger,
  { meter, serves }: { readonly meter: Meter; readonly serves: boolean },
): TargetListener[] {
  const { decisions } = ledger;
  const isAnothers = (target: ToldTarget) => isStrangers({ ledger }, target);
  return [
    decisionListener({ decisions, clock, log, isStrangers: isAnothers }),
    // A command says itself how its work ended.
    ...(serves ? [logListener(log)] : []),
    meterListener({ meter, clock }),
  ];
}

function parts(
  settings: Settings,
  system: System,
  made: State & {
    readonly source: Source;
    readonly host: Host;
    readonly hosts: Hosts;
    readonly meter: Meter;
    readonly listeners: readonly TargetListener[];
    readonly stackLock: WatchedLock;
    readonly secrets: ExternalSecrets;
    readonly windows: SyncWindows;
  },
): Omit<PipelineParts, "options" | "trees"> {
  const { clock, files, log, commands, redactor, env } = system;
  const { ageKey } = settings.sops;
  const turns = createTurns(clock);
  const sops = createSops({
    turns,
    ageKey,
    program: createSopsProgram({ commands, env, ageKey }),
    redactor,
  });
  const digest = (text: string) => made.key.digest(text);
  const source = sourceByKind({ git: made.source });
  const newest = new NewestCommits(made.ledger.found, clock);
  return {
    ...made,
    source: newest.noting(plainSource(source, sops)),
    newest,
    encrypted: createEncryptedFiles({ source, sops, files, digest }),
    rendered: new RenderedModels(),
    imagesAhead: new Map(),
    handedOver: (key) => handedOverWith(made.ledger, key),
    turns,
    files,
    commands,
    clock,
    log,
    looks: boundFairly(8, 2),
    mentioned: new Set(),
    ...createSlots(settings.deploy.concurrent, clock),
    shares: new Shares(clock, settings.deploy.concurrent.preparations),
  };
}

const NAME = "sync_windows";

/**
 * The sync windows in force. The service (`serves`) records its own; a command without windows of
 * its own follows these: closing the service's windows is meant for everybody who deploys.
 */
function windowsInForce(
  settings: Pick<Settings, "syncWindows">,
  { service }: Pick<Ledger, "service">,
  serves: boolean,
): readonly SyncWindow[] {
  if (serves) service.set(NAME, JSON.stringify(settings.syncWindows ?? []));
  return settings.syncWindows ?? JSON.parse(service.get(NAME) ?? "[]");
}

/** The same options for a plan: its trees are not to be mounted either, nor what lies beside them. */
function withScratch(
  options: PipelineParts["options"],
  scratchDir: string | undefined,
): PipelineParts["options"] {
  if (scratchDir === undefined) return options;
  return { ...options, protectedPaths: [...options.protectedPaths, scratchDir] };
}

function pipelineOptions(
  settings: Settings,
  system: System,
  { heldUntil, ledger: { service } }: Pick<Assembly, "heldUntil" | "ledger">,
): PipelineParts["options"] {
  const { deploy, data, git } = settings;
  const { clock } = system;
  const rewrite = createUrlRewriter(git.urlRewrites);
  return {
    dataDir: data.dir,
    protectedPaths: protectedPaths(settings, system),
    configBaseDir: deploy.configBaseDir,
    allowLocalRepositoryUrl: deploy.allowLocalRepositoryUrl,
    passedVariables: passedVariables(settings, system.env),
    reachedAs: (source) => reachedAs(source, rewrite),
    cloneDepth: git.cloneDepth,
    rollback: deploy.rollback,
    watchMs: deploy.watchMs,
    imageRetention: deploy.releaseImageRetention,
    filesRetention: deploy.artifactGcEnabled ? deploy.artifactGcRetentionRecords : Infinity,
    configRetention: deploy.swarmConfigRetention,
    secretRetention: deploy.swarmSecretRetention,
    queuesDeferred: settings.syncWindowQueue,
    polled: settings.polls.map(({ request }) => request),
    nextPoll: (place) => nextPoll(settings, place, { now: clock.now(), heldUntil, service }),
  };
}
