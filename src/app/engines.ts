import { join } from "node:path";
import { lookingEngine, sparingEngine } from "../deploy/mod.ts";
import { createContextStore, createEngine, type EngineClient } from "../docker/mod.ts";
import { DEFAULT_CONTEXT, errors, type StackwrightError } from "../model/mod.ts";
import { type Host, requireNothingOurs } from "../prepare/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { type Meter, scratchPrefix, withDeadline } from "../system/mod.ts";
import { engineEnvironment } from "./engine_environment.ts";
import { findHostDataDirectory } from "./host_data_directory.ts";
import { findOwnContainer } from "./own_container.ts";
import { onceDone, remembered } from "./remember.ts";
import type { System } from "./system.ts";

/** An engine, with facts from its context. */
export interface KnownEngine {
  /** Changes nothing of the project that this process runs in, see {@link sparingEngine}. */
  readonly client: EngineClient;
  /** The same for what a person asks, who may restart that project. */
  readonly asked: EngineClient;
  /** As {@link Host.own}. */
  readonly own: Host["own"];
  /** Whether its host counts as this machine by its address, so that it gets paths instead of files. */
  readonly sharesFiles: boolean;
  /** As {@link Host.isHere}. */
  readonly isHere: Host["isHere"];
  readonly socket?: string;
}

/** The engines of all contexts, one client each. */
export interface Engines {
  /** The engine of the default context. */
  readonly default: EngineClient;
  /** The engine of a context. Throws `bad_request` without such a one, and `settings_invalid`. */
  of(context: string): Promise<KnownEngine>;
  /** Whether a context exists, even if it cannot be read or used. */
  has(context: string): Promise<boolean>;
  /** Names of the readable contexts, the default one first. */
  names(): Promise<string[]>;
  /** Closes idle connections. May be called twice. */
  close(): void;
}

interface Made extends KnownEngine {
  readonly place: string;
}

/** Makes the engines of the settings and of the context store beside `config.json`. */
export function createEngines(settings: Settings, system: System, meter: Meter): Engines {
  const { clock, files, env, log } = system;
  const environment = engineEnvironment(settings, env);
  const store = createContextStore(files, clientConfigDir(settings, system));
  const onMutation = () => meter.count("mutations_total", { by: "engine" });
  const onLeftOut = (context: string) => (why: string) => log.warning(why, { context });
  const plain = createEngine({
    env: environment,
    onMutation,
    onLeftOut: onLeftOut(DEFAULT_CONTEXT),
    clock,
  });
  const socket = /^unix:\/\/(\/.*)$/.exec(settings.docker.host ?? "")?.[1];
  // An engine reached by TCP counts as this machine's: there may be a proxy in between.
  const sharesFiles = !settings.docker.host?.startsWith("ssh:");
  const looking = lookingWith(settings, system, { engine: plain, sharesFiles });
  const defaultEngine = looking(plain, {
    sharesFiles,
    ...(socket === undefined ? {} : { socket }),
  });
  const own = defaultEngine.client;
  const made = new Map<string, Made>();
  const replaced: EngineClient[] = [];
  const names = async () => [DEFAULT_CONTEXT, ...await store.names()];
  return {
    default: own,
    async of(context) {
      if (context === DEFAULT_CONTEXT) return defaultEngine;
      const endpoint = await store.find(context);
      if (endpoint === undefined) throw unknownContext(context, await names());
      const place = JSON.stringify(endpoint);
      const known = made.get(context);
      if (known?.place === place) return known;
      // The old client may have calls under way, so its connections are closed at the end.
      if (known !== undefined) replaced.push(known.client);
      const { DOCKER_API_VERSION: _ofTheDefault, ...rest } = environment;
      const how = { onMutation, onLeftOut: onLeftOut(context), clock };
      const client = createEngine({ endpoint, context, env: rest, ...how });
      const isLocal = endpoint.kind === "unix";
      const reached = { sharesFiles: isLocal, ...(isLocal ? { socket: endpoint.socketPath } : {}) };
      const fresh = { place, ...looking(client, reached) };
      made.set(context, fresh);
      return fresh;
    },
    async has(context) {
      if (context === DEFAULT_CONTEXT) return true;
      return await store.find(context).catch(() => "unusable") !== undefined;
    },
    names,
    close() {
      for (const each of [own, ...replaced, ...[...made.values()].map(({ client }) => client)]) {
        each.close();
      }
    },
  };
}

/** Milliseconds for which an engine stays the one it said it is. */
const SAME_ENGINE_MS = 60_000;
/** Milliseconds for asking the default engine which one it is. */
const ASK_MS = 5000;

/**
 * Gives engines the look at what they are about to start, where they run on this machine. All of these
 * see the data directory where the default one does.
 */
function lookingWith(
  settings: Settings,
  system: System,
  first: { readonly engine: EngineClient; readonly sharesFiles: boolean },
): (engine: EngineClient, reached: Pick<KnownEngine, "sharesFiles" | "socket">) => KnownEngine {
  const { files, clock } = system;
  const { dir: dataDir, hostDir } = settings.data;
  const options = { dataDir, protectedPaths: protectedPaths(settings, system) };
  // A container without a disk of its own for temporary files has at least the data directory on one.
  const places = [scratchPrefix("own"), scratchPrefix("own", { directory: dataDir })];
  const ownOf = (engine: EngineClient) => (signal: AbortSignal) =>
    findOwnContainer({ files, engine, places }, signal);
  const firstOwn = remembered(clock, Infinity, ownOf(first.engine));
  const find = onceDone(async (signal: AbortSignal) =>
    hostDir ?? await findHostDataDirectory(firstOwn, dataDir, signal)
  );
  // A default engine that is away keeps no other context waiting, which counts as being here then.
  const firstId = remembered(clock, SAME_ENGINE_MS, async (signal) => {
    const ask = async (within: AbortSignal) => (await first.engine.info(within)).id;
    const limit = { clock, milliseconds: ASK_MS, late: () => new Error("it did not answer") };
    return await withDeadline(limit, ask, signal).catch(() => signal.throwIfAborted());
  });
  return (engine, reached) => {
    const id = remembered(clock, SAME_ENGINE_MS, async (within) => (await engine.info(within)).id);
    const isFirst = async (signal: AbortSignal) => {
      const known = await firstId(signal);
      return known === undefined ? undefined : known === await id(signal);
    };
    const isHere = async (signal: AbortSignal) => {
      if (reached.sharesFiles || !first.sharesFiles) return reached.sharesFiles;
      return await isFirst(signal) ?? true;
    };
    const ofThis = ownOf(engine);
    const own = engine === first.engine ? firstOwn : remembered(
      clock,
      Infinity,
      async (within) => await isFirst(within) ? await firstOwn(within) : await ofThis(within),
    );
    const looking = lookingEngine(engine, {
      applies: isHere,
      async requireAllowed(looked, signal) {
        const hostDataDir = reached.sharesFiles ? await find(signal) : dataDir;
        const host = { engine, own, isHere, dataDir: hostDataDir, ...reached };
        await requireNothingOurs({ files, host, options }, looked, signal);
      },
    });
    const client = sparingEngine(looking, own);
    const asked = sparingEngine(looking, own, { asked: true });
    return { client, asked, own, isHere, ...reached };
  };
}

/** The directory of the docker client's configuration. */
export function clientConfigDir({ docker }: Settings, { env }: System): string {
  return docker.configDir ?? join(env["HOME"] ?? "/root", ".docker");
}

/** Files and directories besides the data directory that no container may mount. */
export function protectedPaths(settings: Settings, system: System): string[] {
  // The contexts have keys of other engines: a stack that mounts them could control all engines.
  return [...settings.secretFiles, join(clientConfigDir(settings, system), "contexts")];
}

function unknownContext(context: string, names: readonly string[]): StackwrightError {
  const there = `there are ${names.join(", ")}`;
  return errors.bad_request(`unknown context: ${context}; ${there}`, {
    told: `unknown context; ${there}`,
  });
}
