import { join } from "node:path";
import { registrySecrets } from "../compose/mod.ts";
import {
  Compose,
  createEngineBackend,
  findComposeProgram,
  programEnvironment,
  proxyVariables,
  rendersAtOnce,
} from "../deploy/mod.ts";
import { createEngine, type EngineClient } from "../docker/mod.ts";
import type { TargetListener, ToldTarget } from "../model/mod.ts";
import {
  createEncryptedFiles,
  createImages,
  type Images,
  plainSource,
  RenderedModels,
  UNTOUCHED_IMAGES,
} from "../prepare/mod.ts";
import {
  createTreeCollector,
  isStrangers,
  type PipelineParts,
  type TreeCollector,
} from "../pipeline/mod.ts";
import {
  copyLedger,
  INSTANCE_KEY_FILE,
  type InstanceKey,
  Ledger,
  loadInstanceKey,
} from "../record/mod.ts";
import { createSops, createSopsProgram, type ExternalSecrets } from "../secrets/mod.ts";
import { secretValues, type Settings } from "../settings/mod.ts";
import {
  createGitHubTokens,
  createGitSource,
  type GitSourceWithTrees,
  type Source,
} from "../source/mod.ts";
import {
  createIds,
  createLimiter,
  createWatchedLock,
  type HttpClient,
  type Ids,
  type Meter,
  noMeter,
  readMachineFacts,
  scratchPrefix,
  stackAsOwner,
  sweepScratch,
  systemProcessOwner,
  type WatchedLock,
} from "../system/mod.ts";
import { decisionListener, logListener, meterListener } from "../tell/mod.ts";
import { openDataDirectory } from "./data_directory.ts";
import { engineEnvironment, passedVariables } from "./engine_environment.ts";
import { gitCredentials } from "./git_credentials.ts";
import { externalSecrets, httpClient } from "./external_secrets.ts";
import { findHostDataDirectory, findLocalPath } from "./host_data_directory.ts";
import { type Ask, onceDone, remembered } from "./remember.ts";
import type { System } from "./system.ts";

/** Milliseconds for which the engine's description is taken as still true. */
const ENGINE_INFO_LIFETIME_MS = 60_000;

/** Everything below the triggers and faces, ready to work. */
export interface Assembly {
  readonly ids: Ids;
  readonly ledger: Ledger;
  readonly engine: EngineClient;
  /** Everybody who is told what becomes of stacks, besides the record of a run. */
  readonly listeners: readonly TargetListener[];
  /** One piece of work on a stack at a time, whoever asked for it. */
  readonly stackLock: WatchedLock;
  /** What the pipeline works with; asks the engine where the data directory lies, until it answers. */
  readonly pipelineParts: Ask<PipelineParts>;
  /** Ends what is open. */
  close(): Promise<void>;
}

/** What may differ from the usual assembly. */
export interface AssemblyOptions {
  /**
   * An empty directory of the caller: mirrors, trees and a copy of the ledger go there, and the data
   * directory is only read, also where there is none yet.
   */
  readonly scratchDir?: string;
  /** Where measurements go; nowhere by default. */
  readonly meter?: Meter;
}

/**
 * Opens the data directory and builds the parts of the pipeline.
 *
 * Throws `data_dir_unusable`, `ledger_unusable` or `settings_invalid`.
 */
export async function assemble(
  settings: Settings,
  system: System,
  { scratchDir, meter = noMeter }: AssemblyOptions = {},
): Promise<Assembly> {
  secretValues(settings).forEach((value) => system.redactor.add(value));
  const swept = await sweepScratch(system);
  if (swept > 0) system.log.info(`removed ${swept} temporary directories of killed processes`);
  const ids = createIds(system.clock);
  const { key, ledger } = scratchDir === undefined
    ? await openState(settings, system, ids)
    : await copyState(settings, system, { ids, scratchDir });
  const http = await httpClient(settings, system);
  const { dir } = settings.data;
  const directories = scratchDir === undefined
    ? { dataDir: dir }
    : { dataDir: scratchDir, lender: dir };
  const source = createSource(settings, system, { http, ...directories });
  const engine = createEngine({
    env: engineEnvironment(settings, system.env),
    onMutation: () => meter.count("mutations_total", { by: "engine" }),
    clock: system.clock,
  });
  const stackLock = createWatchedLock();
  const secrets = externalSecrets(settings, system, http);
  const listeners = listenersOf(system, ledger, meter);
  const pipelineParts = onceDone(async (signal) => {
    const options = await pipelineOptions(settings, system, engine, signal);
    const made = { key, ledger, source, engine, meter, listeners, stackLock, secrets };
    const common = parts(settings, system, made);
    return {
      ...common,
      images: scratchDir === undefined ? images(settings, system, common) : UNTOUCHED_IMAGES,
      trees: settings.deploy.artifactGcEnabled && scratchDir === undefined
        ? treeCollector(system, made, options)
        : NO_COLLECTOR,
      options,
    };
  });
  return {
    ids,
    ledger,
    engine,
    listeners,
    stackLock,
    pipelineParts,
    async close() {
      await source.close();
      http.close();
      engine.close();
      ledger.close();
    },
  };
}

interface State {
  readonly key: InstanceKey;
  readonly ledger: Ledger;
}

async function openState(settings: Settings, system: System, ids: Ids): Promise<State> {
  const { dir } = settings.data;
  await openDataDirectory(system.files, dir);
  const key = await loadInstanceKey(system.files, dir);
  const ledger = openLedger(dir, system, { key, ids });
  ledger.checkWritable();
  await closeToOthers(system, join(dir, LEDGER_FILE));
  return { key, ledger };
}

/** The ledger and its journals: SQLite makes them as open as it may. */
async function closeToOthers({ files }: System, path: string): Promise<void> {
  for (const each of [path, `${path}-wal`, `${path}-shm`]) {
    // Not there, or another user's.
    await files.chmod(each, 0o600).catch(() => {});
  }
}

/** The key and a copy of the ledger, for who only looks: new ones where there are none yet. */
async function copyState(
  settings: Settings,
  system: System,
  { ids, scratchDir }: { readonly ids: Ids; readonly scratchDir: string },
): Promise<State> {
  const { dir } = settings.data;
  const isThere = await system.files.stat(join(dir, INSTANCE_KEY_FILE)) !== undefined;
  const key = await loadInstanceKey(system.files, isThere ? dir : scratchDir);
  await copyLedger(system.files, join(dir, LEDGER_FILE), join(scratchDir, LEDGER_FILE));
  return { key, ledger: openLedger(scratchDir, system, { key, ids }) };
}

/** Name of the ledger in its directory. */
const LEDGER_FILE = "state.db";

function openLedger(
  dir: string,
  system: System,
  { key, ids }: { readonly key: InstanceKey; readonly ids: Ids },
): Ledger {
  return new Ledger(join(dir, LEDGER_FILE), {
    key,
    clock: system.clock,
    ids,
    owner: systemProcessOwner(),
    redact: (text, key) => system.redactor.redact(text, stackAsOwner(key)),
    onRewritten: () =>
      system.log.error(
        `${
          join(dir, LEDGER_FILE)
        } was deleted while it is in use: it was written anew with all it ` +
          "held; stop Stackwright before you remove or restore it",
      ),
  });
}

function createSource(
  settings: Settings,
  system: System,
  { http, ...directories }: {
    readonly http: HttpClient;
    readonly dataDir: string;
    readonly lender?: string;
  },
): GitSourceWithTrees {
  const { git, proxy } = settings;
  const { clock, redactor } = system;
  const tokens = createGitHubTokens({ http, clock, redactor });
  return createGitSource({
    commands: system.commands,
    files: system.files,
    clock: system.clock,
    redactor: system.redactor,
    log: system.log,
    ...directories,
    credentials: gitCredentials(settings),
    options: {
      temporaryPrefix: scratchPrefix("git"),
      http,
      submodules: git.cloneSubmodules,
      rewrites: git.urlRewrites,
      githubToken: (app, url, signal) => tokens.token(app, url, signal),
      httpProxy: proxy.http ?? "",
      httpsProxy: proxy.https ?? proxy.http ?? "",
      noProxy: proxy.noProxy.join(","),
      ...(git.sshKnownHostsFile === undefined ? {} : { knownHostsFile: git.sshKnownHostsFile }),
      ...(system.env["PATH"] === undefined ? {} : { path: system.env["PATH"] }),
      ...(system.env["SSL_CERT_FILE"] === undefined ? {} : { caFile: system.env["SSL_CERT_FILE"] }),
    },
  });
}

function listenersOf({ clock, log }: System, ledger: Ledger, meter: Meter): TargetListener[] {
  const { decisions } = ledger;
  const isAnothers = (target: ToldTarget) => isStrangers({ ledger }, target);
  return [
    decisionListener({ decisions, clock, log, isStrangers: isAnothers }),
    logListener(log),
    meterListener({ meter, clock }),
  ];
}

function parts(
  settings: Settings,
  system: System,
  made: State & {
    readonly source: Source;
    readonly engine: EngineClient;
    readonly meter: Meter;
    readonly listeners: readonly TargetListener[];
    readonly stackLock: WatchedLock;
    readonly secrets: ExternalSecrets;
  },
): Omit<PipelineParts, "options" | "trees" | "images"> {
  const { clock, files, log, commands, redactor, env } = system;
  const program = programEnvironment(engineEnvironment(settings, system.env));
  const { ageKey } = settings.sops;
  const sops = createSops({
    ageKey,
    program: createSopsProgram({ commands, env, ageKey }),
    redactor,
  });
  const digest = (text: string) => made.key.digest(text);
  const compose = new Compose({
    commands,
    findProgram: () => findComposeProgram(files, program),
    programEnvironment: program,
    log,
    scratch: { files, prefix: scratchPrefix("render") },
    rendering: createLimiter(rendersAtOnce(readMachineFacts())),
    quiet: settings.deploy.quiet,
    onMutation: () => made.meter.count("mutations_total", { by: "compose" }),
  });
  return {
    ...made,
    source: plainSource(made.source, sops),
    encrypted: createEncryptedFiles({ source: made.source, sops, files, digest }),
    engineInfo: remembered(clock, ENGINE_INFO_LIFETIME_MS, async (signal) => {
      const info = await made.engine.info(signal);
      return settings.deploy.swarmFeatures ? info : { ...info, swarm: "inactive" };
    }),
    compose,
    backend: createEngineBackend({
      engine: made.engine,
      clock,
      log,
      quiet: settings.deploy.quiet,
      compose,
      variables: () => proxies(settings, system, made.secrets),
    }),
    rendered: new RenderedModels(),
    files,
    commands,
    localPath: (path, signal) => findLocalPath({ files, engine: made.engine }, path, signal),
    clock,
    log,
    preparing: createLimiter(settings.deploy.maxConcurrentPredeployments),
    deploying: createLimiter(settings.deploy.maxConcurrentDeployments),
  };
}

function images(
  { docker }: Settings,
  { env }: System,
  parts: Omit<PipelineParts, "options" | "trees" | "images">,
): Images {
  return createImages({ ...parts, clientConfigFile: clientConfigFile(docker, env) });
}

/** The configuration of the docker client, which holds credentials and proxies. */
function clientConfigFile({ configDir }: Settings["docker"], env: System["env"]): string {
  return join(configDir ?? join(env["HOME"] ?? "/root", ".docker"), "config.json");
}

/** What the docker client would tell every container of its proxies; their passwords are hidden. */
async function proxies(
  { docker }: Settings,
  { env, files }: System,
  secrets: ExternalSecrets,
): Promise<Record<string, string>> {
  const bytes = await files.readIfExists(clientConfigFile(docker, env)).catch(() => undefined);
  if (bytes === undefined) return {};
  const text = new TextDecoder().decode(bytes);
  secrets.hide(registrySecrets(text));
  return proxyVariables(text, env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock");
}

/** For who only looks, and for who wants to keep everything. */
const NO_COLLECTOR: TreeCollector = { collect: () => Promise.resolve() };

function treeCollector(
  { files, clock, log }: System,
  made: {
    readonly ledger: Ledger;
    readonly engine: EngineClient;
    readonly source: GitSourceWithTrees;
  },
  { dataDir, hostDataDir, treeRetention }: PipelineParts["options"],
): TreeCollector {
  const { ledger, engine, source: { trees } } = made;
  const directories = { dataDir, hostDataDir, previousReleases: treeRetention };
  return createTreeCollector({ trees, engine, ledger, files, clock, log, ...directories });
}

/** A path in DOCKER_HOST; containers that mount it have the engine. */
function engineSocketOf(host: string | undefined): { readonly engineSocket?: string } {
  const path = /^unix:\/\/(\/.*)$/.exec(host ?? "")?.[1];
  return path === undefined ? {} : { engineSocket: path };
}

async function pipelineOptions(
  settings: Settings,
  { files, env }: System,
  engine: EngineClient,
  signal: AbortSignal,
): Promise<PipelineParts["options"]> {
  const { deploy, data, git } = settings;
  return {
    dataDir: data.dir,
    hostDataDir: data.hostDir ?? await findHostDataDirectory({ files, engine }, data.dir, signal),
    protectedPaths: settings.secretFiles,
    ...engineSocketOf(settings.docker.host),
    configBaseDir: deploy.configBaseDir,
    allowLocalRepositoryUrl: deploy.allowLocalRepositoryUrl,
    passedVariables: passedVariables(settings, env),
    cloneDepth: git.cloneDepth,
    rollback: deploy.rollback,
    imageRetention: deploy.releaseImageRetention,
    treeRetention: deploy.artifactGcRetentionRecords,
  };
}
