import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type App, startApp } from "../../src/app.ts";
import { createEngine, type EngineClient } from "../../src/docker/mod.ts";
import type { ObservedContainer } from "../../src/model/mod.ts";
import { readSettings } from "../../src/settings/mod.ts";
import {
  type Clock,
  type Commands,
  createRedactor,
  type Files,
  type Redactor,
  systemClock,
  systemCommands,
  systemFiles,
} from "../../src/system/mod.ts";
import { BUSYBOX_IMAGE, ensureBusyboxImage } from "../fakes/busybox_image.ts";
import { composePlugins, createComposeCommand } from "../fakes/compose_command.ts";
import { createEngineProxy, type EngineProxy } from "../fakes/engine_proxy.ts";
import { createFakeEngine, type FakeEngine } from "../fakes/fake_engine.ts";
import { createRepository, type FakeRepository } from "../fakes/git_repository.ts";
import { findRealEngine } from "../fakes/real_engine.ts";
import { createRecordingLog, type LoggedLine } from "../fakes/recording_log.ts";
import { rememberingVersions } from "../fakes/remembered_versions.ts";

/** Key of the API in every world. */
export const API_KEY = "world-api-key-4711";
/** Image that both engines have: busybox with every applet. */
export const IMAGE = BUSYBOX_IMAGE;

/** What runs programs for services and commands of worlds: the real thing. */
export const worldCommands: Commands = rememberingVersions(systemCommands);

/** A run as the API shows it. */
export interface RunBody {
  readonly repository?: string;
  readonly job_id: string;
  readonly status: string;
  readonly message?: string;
  readonly deployments?: readonly {
    readonly stack: string;
    readonly status: string;
    readonly reason?: string;
    readonly retry_at?: string;
    readonly message?: string;
    readonly services?: readonly {
      readonly name: string;
      readonly action: string;
      readonly because: readonly string[];
    }[];
  }[];
}

/** A service, an engine behind a counting proxy, and a repository. */
export interface World {
  readonly kind: "fake" | "real";
  readonly repository: FakeRepository;
  /** The engine below the proxy, where it is a fake. */
  readonly fake: FakeEngine | undefined;
  /** Counts and breaks the calls of service and compose alike. */
  readonly proxy: EngineProxy;
  /** Socket of the engine itself. */
  readonly socketPath: string;
  /** A client that goes past the proxy. */
  readonly engine: EngineClient;
  readonly dataDir: string;
  readonly lines: readonly LoggedLine[];
  /** What a real log puts its lines through; a service that is started again has another. */
  readonly redactor: Redactor;
  /** A stack name that no other world uses. */
  readonly stack: string;
  readonly app: App;
  /** Environment of the service and of commands. */
  readonly env: Readonly<Record<string, string>>;
  /** What the service and its commands take for the time. */
  readonly clock: Clock;
  /** Puts the clock forward. */
  advance(milliseconds: number): void;
  /** Containers of the stack, one-offs left out, sorted by name. */
  containers(name?: string): Promise<ObservedContainer[]>;
  /** Polls the repository now; returns status, body and finished run. */
  poll(
    entry?: Record<string, unknown>,
  ): Promise<{ status: number; body: Record<string, unknown>; run: RunBody }>;
  /** Calls the API. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Ends the service and starts another on the same data directory. */
  restart(env?: Record<string, string>): Promise<void>;
  /** Ends the service without a new one. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

/** What a world starts with. */
export interface WorldOptions {
  readonly engine: "fake" | "real";
  /** Socket of a real engine of the test's own; that of this machine by default. */
  readonly socketPath?: string;
  /** Settings beside the usual ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** Compose plugin file; the installed one by default. */
  readonly plugin?: string;
  /** What runs programs for the service; {@link worldCommands} by default. */
  readonly commands?: Commands;
  /** The service's files; the real ones by default. */
  readonly files?: Files;
  /** Told of every change that the engine made, before whoever asked for it hears of it. */
  readonly onMutation?: (n: number, call: { readonly path: string }) => void | Promise<void>;
  /** How many times faster than real the service waits; also its grace period at the end. */
  readonly speed?: number;
}

/**
 * The worlds this machine can make: the fake engine always, the real one where there is one. With
 * `FLOW_ENGINES=real` only the real one, for what is about compose rather than about us; with
 * `FLOW_ENGINES=fake` only the fake one, while something is being written.
 */
export async function engines(): Promise<readonly ("fake" | "real")[]> {
  const asked = process.env["FLOW_ENGINES"];
  if (asked === "fake") return ["fake"];
  const real = await findRealEngine();
  if (real.unavailable !== undefined) return ["fake"];
  await ensureBusyboxImage();
  return asked === "real" ? ["real"] : ["fake", "real"];
}

/**
 * The engine for claims that engine and compose decide as much as we do, in flows that only `all` runs: the
 * real one where there is one. The fake one beside it would only try itself, and has a contract suite.
 */
export async function decidingEngine(): Promise<readonly ("fake" | "real")[]> {
  return (await engines()).slice(-1);
}

/** Makes a world; `close` takes everything away again, also from the real engine. */
export async function createWorld(options: WorldOptions): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "stackwright-world-"));
  const dataDir = join(directory, "data");
  await mkdir(dataDir);
  const fake = options.engine === "fake"
    ? await createFakeEngine({ socketPath: join(directory, "engine.sock") })
    : undefined;
  fake?.addImage(IMAGE, { where: "both" });
  const upstream = fake === undefined
    ? options.socketPath ?? await realSocket()
    : join(directory, "engine.sock");
  const { onMutation } = options;
  const proxy = await createEngineProxy({
    socketPath: join(directory, "proxy.sock"),
    upstream,
    ...(onMutation === undefined ? {} : { onMutation }),
  });
  const compose = await createComposeCommand(options.plugin ?? composePlugins()[0] ?? "");
  const repository = await createRepository(join(directory, "git"));
  const engine = createEngine({ host: `unix://${upstream}` });
  const log = createRecordingLog();
  let redactor = createRedactor();
  const { commands = worldCommands, files = systemFiles } = options;
  const stack = `swt-${directory.slice(-6).toLowerCase().replaceAll(/[^a-z0-9]/g, "x")}`;
  const never = new AbortController().signal;
  const settings = {
    PATH: process.env["PATH"] ?? "",
    HOME: process.env["HOME"] ?? "/root",
    DATA_DIR: dataDir,
    API_SECRET: API_KEY,
    DOCKER_HOST: proxy.host,
    DOCKER_CONFIG: compose.configDirectory,
    ALLOW_LOCAL_REPOSITORY_URL: "true",
    ...options.env,
  };
  let later = 0;
  const hurried = hurriedClock(options.speed ?? (fake ? 50 : 3));
  const clock: Clock = { ...hurried, now: () => new Date(hurried.now().getTime() + later) };
  const start = (env: Readonly<Record<string, string>> = {}) =>
    startWorldApp({ log, redactor, env: { ...settings, ...env }, clock, commands, files });
  let app = await start();

  const request = (path: string, init: RequestInit = {}) =>
    fetch(new URL(init.method === undefined ? path : patient(path), app.url), {
      ...init,
      headers: { "x-api-key": API_KEY, "content-type": "application/json", ...init.headers },
    });
  return {
    kind: options.engine,
    repository,
    fake,
    proxy,
    socketPath: upstream,
    engine,
    dataDir,
    lines: log.lines,
    get redactor() {
      return redactor;
    },
    stack,
    get app() {
      return app;
    },
    env: settings,
    clock,
    advance: (milliseconds) => void (later += milliseconds),
    request,
    async containers(name = stack) {
      const all = await engine.listContainers({ "com.docker.compose.project": name }, never);
      return (await withAllLabels(engine, all)).sort((a, b) => a.name < b.name ? -1 : 1);
    },
    async poll(entry = {}) {
      const answer = await request("/v1/api/poll/run", {
        method: "POST",
        body: JSON.stringify([{ url: repository.url, reference: "main", ...entry }]),
      });
      const body = await answer.json() as Record<string, unknown>;
      if (body["job_id"] === undefined) return { status: answer.status, body, run: none() };
      const run = await request(`/v1/api/run/${body["job_id"]}`);
      return { status: answer.status, body, run: (await run.json()).content as RunBody };
    },
    async restart(env) {
      await app.close();
      redactor = createRedactor();
      app = await start(env);
    },
    stop: () => app.close(),
    async close() {
      await app.close();
      await proxy.close();
      await compose.close();
      if (fake === undefined) await removeProjects(engine, stack);
      engine.close();
      await fake?.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface AppParts {
  readonly log: ReturnType<typeof createRecordingLog>;
  readonly redactor: Redactor;
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly commands: Commands;
  readonly files: Files;
}

async function startWorldApp(
  { log, redactor, env, clock, commands, files }: AppParts,
): Promise<App> {
  const settings = readSettings(env, () => "", { uid: 0 });
  return await startApp({ ...settings, http: { ...settings.http, port: 0, metricsPort: 0 } }, {
    clock,
    commands,
    files,
    log,
    redactor,
    env,
    version: "0.0.0-test",
    engineLimitMs: ENGINE_LIMIT_MS,
    hostname: "127.0.0.1",
  });
}

/** Time for the engine on a clock that is hurried: no busy machine is to be taken for a dead engine. */
export const ENGINE_LIMIT_MS = 60 * 60 * 1000;

/** A clock that shows the real time and sleeps `speed` times shorter. */
export function hurriedClock(speed: number): Clock {
  return {
    now: systemClock.now,
    uptime: systemClock.uptime,
    sleep: (milliseconds, signal) => systemClock.sleep(milliseconds / speed, signal),
  };
}

/**
 * The path of an action on a project or stack with a time limit of its own: the API's is less than a
 * second on a clock that is hurried, and an action waits for the deployment under way.
 */
function patient(path: string): string {
  if (!/^\/v1\/api\/(?:project|stack)\//.test(path) || path.includes("timeout=")) return path;
  return `${path}${path.includes("?") ? "&" : "?"}timeout=3600`;
}

/** The socket of the real engine of this machine. Throws where there is none. */
export async function realSocket(): Promise<string> {
  const real = await findRealEngine();
  if (real.unavailable !== undefined) throw new Error(real.unavailable);
  return real.socketPath;
}

/**
 * Takes away what a world left on the real engine: every project whose name begins with `stack`, and
 * the images that were built for it or are named after it.
 */
async function removeProjects(engine: EngineClient, stack: string): Promise<void> {
  const never = new AbortController().signal;
  const label = "com.docker.compose.project";
  const mine = (each: { labels: Readonly<Record<string, string>> }) =>
    each.labels[label]?.startsWith(stack) === true;
  for (const each of (await engine.listContainers({ [label]: undefined }, never)).filter(mine)) {
    await engine.removeContainer(each.id, { force: true, volumes: true }, never);
  }
  for (const each of (await engine.listNetworks({ [label]: undefined }, never)).filter(mine)) {
    await engine.removeNetwork(each.id, never);
  }
  for (const each of (await engine.listVolumes({ [label]: undefined }, never)).filter(mine)) {
    await engine.removeVolume(each.name, never);
  }
  for (const each of await engine.listImages(never)) {
    const isOurs = (tag: string) =>
      tag.startsWith(`${stack}-`) || mine(each) && tag.startsWith("stackwright/kept:");
    const tags = each.tags.filter(isOurs);
    for (const tag of tags) await engine.removeImage(tag, never);
    if (tags.length === 0 && mine(each)) await engine.removeImage(each.id, never);
  }
}

function none(): RunBody {
  return { job_id: "", status: "" };
}

/** Containers of a list with their authors' labels, too, which lists leave out; without those gone meanwhile. */
export async function withAllLabels(
  engine: Pick<EngineClient, "inspectContainer">,
  listed: readonly ObservedContainer[],
): Promise<ObservedContainer[]> {
  const never = new AbortController().signal;
  const found = await Promise.all(listed.map(async (each) => {
    const labels = (await engine.inspectContainer(each.id, never))?.container.labels;
    return labels === undefined ? [] : [{ ...each, labels }];
  }));
  return found.flat();
}
