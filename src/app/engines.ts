import { join } from "node:path";
import { lookingEngine, requireMountsInside } from "../deploy/mod.ts";
import { createContextStore, createEngine, type EngineClient } from "../docker/mod.ts";
import { DEFAULT_CONTEXT, errors, type StackwrightError } from "../model/mod.ts";
import type { Settings } from "../settings/mod.ts";
import type { Meter } from "../system/mod.ts";
import { engineEnvironment } from "./engine_environment.ts";
import { findHostDataDirectory } from "./host_data_directory.ts";
import { onceDone } from "./remember.ts";
import type { System } from "./system.ts";

/** An engine, with facts from its context. */
export interface KnownEngine {
  readonly client: EngineClient;
  /** Whether its host counts as this machine, so that both have the same paths. */
  readonly isHere: boolean;
  /** Path of its socket, if it is reached by one. */
  readonly socket?: string;
}

/** The engines of all contexts, one client each. */
export interface Engines {
  /** The engine of the default context. */
  readonly default: EngineClient;
  /**
   * The engine of a context as the context store has it now; its client is made on first use.
   * Throws `bad_request` for an unknown context, and `settings_invalid` for one that cannot be
   * used.
   */
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
  const looking = lookingWith(settings, files, plain);
  const socket = /^unix:\/\/(\/.*)$/.exec(settings.docker.host ?? "")?.[1];
  // An engine reached by TCP counts as this machine's: there may be a proxy in between.
  const isHere = !settings.docker.host?.startsWith("ssh:");
  const own = isHere ? looking(plain) : plain;
  const defaultEngine = { client: own, isHere, ...(socket === undefined ? {} : { socket }) };
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
      const seen = { client: isLocal ? looking(client) : client, isHere: isLocal };
      const fresh = { place, ...seen, ...(isLocal ? { socket: endpoint.socketPath } : {}) };
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

/**
 * Gives engines of this machine the look at where mounts lead before they start anything. All of them
 * see the data directory where the default one, `own`, does.
 */
function lookingWith(
  { data: { dir: dataDir, hostDir } }: Settings,
  files: System["files"],
  own: EngineClient,
): (engine: EngineClient) => EngineClient {
  const find = onceDone(async (signal: AbortSignal) =>
    hostDir ?? await findHostDataDirectory({ files, engine: own }, dataDir, signal)
  );
  return (engine) =>
    lookingEngine(engine, async (mounts, signal) => {
      if (mounts.length === 0) return;
      const hostDataDir = await find(signal);
      await requireMountsInside({ engine, files, dataDir, hostDataDir }, mounts, signal);
    });
}

/** The directory of the docker client's configuration. */
export function clientConfigDir({ docker }: Settings, { env }: System): string {
  return docker.configDir ?? join(env["HOME"] ?? "/root", ".docker");
}

function unknownContext(context: string, names: readonly string[]): StackwrightError {
  const there = `there are ${names.join(", ")}`;
  return errors.bad_request(`unknown context: ${context}; ${there}`, {
    told: `unknown context; ${there}`,
  });
}
