import { join } from "node:path";
import { createOperations } from "./api/mod.ts";
import { findHostDataDirectory } from "./app/host_data_directory.ts";
import { gitCredentials } from "./app/git_credentials.ts";
import { openDataDirectory } from "./app/data_directory.ts";
import { parsePollRequest } from "./config/mod.ts";
import { Compose, programEnvironment } from "./deploy/mod.ts";
import { createEngine, type EngineClient, type EngineInfo } from "./docker/mod.ts";
import { createIntake, type Intake } from "./intake.ts";
import { messageOf } from "./model/mod.ts";
import { createPipeline, type Pipeline } from "./pipeline.ts";
import { reduceTargets } from "./plan/mod.ts";
import { createRuns, type InstanceKey, Ledger, loadInstanceKey } from "./record/mod.ts";
import { createHandler, createServer, type Server } from "./serve/mod.ts";
import type { Settings } from "./settings/mod.ts";
import { secretValues } from "./settings/mod.ts";
import { createGitSource, type Source } from "./source/mod.ts";
import {
  type Clock,
  type Commands,
  createIds,
  createKeyedLock,
  createLimiter,
  type Files,
  formatTime,
  type Ids,
  type Log,
  type Redactor,
} from "./system/mod.ts";
import { checkSchedule, runPolls } from "./trigger/mod.ts";

/** The outside world the service lives in. */
export interface System {
  readonly clock: Clock;
  readonly commands: Commands;
  readonly files: Files;
  readonly log: Log;
  readonly redactor: Redactor;
  /** The environment of the process: what the docker program needs, and what `PASS_ENV` lets through. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Address to listen on; every IPv4 address when absent. */
  readonly hostname?: string;
}

/** The running service. */
export interface App {
  /** Address of the API. */
  readonly url: string;
  readonly intake: Intake;
  /** Resolves when every poll loop has ended by itself, as `run_once` entries do. */
  readonly polled: Promise<void>;
  /** Stops gracefully: no new work, a grace period for what is under way, then the end. */
  close(): Promise<void>;
}

/** Milliseconds that requests under way may take after a shutdown began. */
const REQUEST_GRACE_MS = 10_000;
/** Milliseconds for which the engine's description is taken as still true. */
const ENGINE_INFO_LIFETIME_MS = 60_000;

/**
 * Builds everything from the settings and starts it: opens the data directory, listens, then
 * polls. An engine that is down does not keep it from starting: runs fail and say so until it is back.
 *
 * Throws `data_dir_unusable`, `ledger_unusable`, `settings_invalid`, or what listening throws.
 */
export async function startApp(settings: Settings, system: System): Promise<App> {
  const { clock, log, redactor } = system;
  secretValues(settings).forEach((value) => redactor.add(value));
  const ids = createIds(clock);
  const state = await openState(settings, system, ids);
  const source = createSource(settings, system);
  const engine = createEngine({ env: engineEnvironment(settings, system) });
  const stop = new AbortController();
  const pipeline = createRecoveringPipeline(settings, system, { ...state, source, engine });
  const runs = createRuns({ clock });
  const intake = createIntake({
    runs,
    execute: pipeline.execute,
    conclude: (targets, facts) =>
      reduceTargets(targets, {
        ...facts,
        formatTime: (instant) => formatTime(instant, settings.timeZone),
      }),
    clock,
    ids,
    redactor,
    log,
  });
  const operations = createOperations({
    intake,
    runs,
    checkEngine: (signal) => engine.info(signal),
    parsePollRequest: (value) =>
      parsePollRequest(value, { checkSchedule: scheduleCheck(settings, clock) }),
    clock,
    timeZone: settings.timeZone,
  });
  const handler = createHandler({
    operations,
    apiSecret: settings.apiSecret,
    maxPayload: settings.http.maxPayloadBytes,
    redactor,
    log,
    ids,
    clock,
  });
  const server = await listen(settings, system, handler);
  log.info(`listening on ${server.url}`, { api: settings.apiSecret !== undefined });
  const resumed = pipeline.recover(stop.signal).catch((error) => {
    log.error(`interrupted work waits for the engine: ${messageOf(error)}`, { error });
  });
  const polled = resumed.then(() =>
    runPolls(settings.polls, {
      submit: (work) => intake.submit(work),
      clock,
      log,
      timeZone: settings.timeZone,
      random: Math.random,
    }, stop.signal)
  );
  const close = once(async () => {
    log.info("shutting down");
    // Waiting clients get their answer, and new work its refusal, while the server still listens.
    await intake.close();
    stop.abort(new DOMException("shutting down", "AbortError"));
    await polled;
    await server.shutdown(REQUEST_GRACE_MS);
    await source.close();
    engine.close();
    state.ledger.close();
  });
  return { url: server.url, intake, polled, close };
}

interface State {
  readonly key: InstanceKey;
  readonly ledger: Ledger;
}

async function openState(settings: Settings, system: System, ids: Ids): Promise<State> {
  const { dir } = settings.data;
  await openDataDirectory(system.files, dir);
  const key = await loadInstanceKey(system.files, dir);
  const ledger = new Ledger(join(dir, "state.db"), { key, clock: system.clock, ids });
  ledger.checkWritable();
  return { key, ledger };
}

function createSource(settings: Settings, system: System): Source {
  const { git, proxy } = settings;
  return createGitSource({
    commands: system.commands,
    files: system.files,
    clock: system.clock,
    redactor: system.redactor,
    log: system.log,
    dataDir: settings.data.dir,
    credentials: gitCredentials(settings),
    options: {
      submodules: git.cloneSubmodules,
      httpProxy: proxy.http ?? "",
      httpsProxy: proxy.https ?? proxy.http ?? "",
      noProxy: proxy.noProxy.join(","),
      ...(git.sshKnownHostsFile === undefined ? {} : { knownHostsFile: git.sshKnownHostsFile }),
      ...(system.env["PATH"] === undefined ? {} : { path: system.env["PATH"] }),
      ...(system.env["SSL_CERT_FILE"] === undefined ? {} : { caFile: system.env["SSL_CERT_FILE"] }),
    },
  });
}

/** The pipeline, which finishes interrupted work before it does any other. */
function createRecoveringPipeline(
  settings: Settings,
  system: System,
  parts: State & { readonly source: Source; readonly engine: EngineClient },
): Pipeline {
  const { clock, files, log, commands } = system;
  const { deploy, data } = settings;
  const compose = new Compose({
    commands,
    programEnvironment: programEnvironment(engineEnvironment(settings, system)),
    log,
  });
  const engineInfo = remembered(clock, (signal) => parts.engine.info(signal));
  const hostDataDir = onceDone((signal) =>
    data.hostDir === undefined
      ? findHostDataDirectory({ files, engine: parts.engine }, data.dir, signal)
      : Promise.resolve(data.hostDir)
  );
  const shared = {
    ...parts,
    engineInfo,
    compose,
    files,
    clock,
    log,
    preparing: createLimiter(deploy.maxConcurrentPredeployments),
    deploying: createLimiter(deploy.maxConcurrentDeployments),
    stackLock: createKeyedLock(),
  };
  const ready = onceDone(async (signal) => {
    const pipeline = createPipeline({
      ...shared,
      options: {
        dataDir: data.dir,
        hostDataDir: await hostDataDir(signal),
        configBaseDir: deploy.configBaseDir,
        passedVariables: deploy.passEnv ? passedVariables(settings, system) : {},
        cloneDepth: settings.git.cloneDepth,
        rollback: deploy.rollback,
      },
    });
    if (parts.ledger.openIntents().length > 0) {
      await engineInfo(signal);
      await pipeline.recover(signal);
    }
    return pipeline;
  });
  return {
    execute: async (work, reporter, signal) => {
      await (await ready(signal)).execute(work, reporter, signal);
    },
    recover: async (signal) => void await ready(signal),
  };
}

/** Variables of our environment that `PASS_ENV` lets into interpolation: never our own secrets. */
function passedVariables(settings: Settings, system: System): Record<string, string> {
  const secrets = new Set(secretValues(settings));
  const program = new Set(Object.keys(programEnvironment(system.env)));
  return Object.fromEntries(
    Object.entries(system.env).filter((entry): entry is [string, string] => {
      const [name, value] = entry;
      return value !== undefined && !program.has(name) && !secrets.has(value) &&
        !/^(?:COMPOSE|DOCKER|BUILDX|BUILDKIT|LD|XDG)_/.test(name);
    }),
  );
}

/** The environment for engine and compose: both must talk to the same engine. */
function engineEnvironment(settings: Settings, system: System): Record<string, string | undefined> {
  const { host, apiVersion, configDir, certPath, tlsVerify } = settings.docker;
  return {
    ...system.env,
    DOCKER_HOST: host,
    DOCKER_API_VERSION: apiVersion,
    DOCKER_CONFIG: configDir,
    DOCKER_CERT_PATH: certPath,
    DOCKER_TLS_VERIFY: tlsVerify ? "1" : undefined,
  };
}

async function listen(
  settings: Settings,
  system: System,
  handler: ReturnType<typeof createHandler>,
): Promise<Server> {
  const { http } = settings;
  return await createServer({
    handler,
    port: http.port,
    maxPayload: http.maxPayloadBytes,
    clock: system.clock,
    log: system.log,
    ...(http.tls === undefined ? {} : { tls: { ...http.tls, files: system.files } }),
    ...(system.hostname === undefined ? {} : { hostname: system.hostname }),
  });
}

function scheduleCheck(settings: Settings, clock: Clock) {
  return (schedule: string) =>
    checkSchedule(schedule, { now: clock.now(), timeZone: settings.timeZone });
}

/** Asks again after a while, and after every failure. */
function remembered(
  clock: Clock,
  ask: (signal: AbortSignal) => Promise<EngineInfo>,
): (signal: AbortSignal) => Promise<EngineInfo> {
  let known: { readonly info: EngineInfo; readonly until: number } | undefined;
  return async (signal) => {
    if (known !== undefined && clock.now().getTime() < known.until) return known.info;
    known = undefined;
    const info = await ask(signal);
    known = { info, until: clock.now().getTime() + ENGINE_INFO_LIFETIME_MS };
    return info;
  };
}

/** Does something until it worked once; callers at the same time share one attempt. */
function onceDone<T>(
  work: (signal: AbortSignal) => Promise<T>,
): (signal: AbortSignal) => Promise<T> {
  let attempt: Promise<T> | undefined;
  return (signal) => {
    attempt ??= work(signal).catch((error) => {
      attempt = undefined;
      throw error;
    });
    return attempt;
  };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => done ??= work();
}
