import { join } from "node:path";
import { createContextStore, createEngine, type EngineClient } from "../docker/mod.ts";
import { DEFAULT_CONTEXT, errors, type StackwrightError } from "../model/mod.ts";
import type { Settings } from "../settings/mod.ts";
import type { Meter } from "../system/mod.ts";
import { engineEnvironment } from "./engine_environment.ts";
import type { System } from "./system.ts";

/** An engine that the service knows, and what its context says of where it is. */
export interface KnownEngine {
  readonly client: EngineClient;
  /** Whether paths of this machine may be paths of its host: it is reached by a socket here. */
  readonly isHere: boolean;
  /** That socket. */
  readonly socket?: string;
}

/** The engines of all contexts, one client each. */
export interface Engines {
  /** The engine of the default context. */
  readonly default: EngineClient;
  /**
   * The engine of a context, as its store says now; its client is made when it is first asked for.
   * Throws `bad_request` for a context that is not there, and `settings_invalid` for one that cannot
   * be used.
   */
  of(context: string): Promise<KnownEngine>;
  /** Whether a context is there, also one that cannot be read or used. */
  has(context: string): Promise<boolean>;
  /** Names of the contexts that can be read, the default one first. */
  names(): Promise<string[]>;
  /** Closes idle connections. May be called twice. */
  close(): void;
}

interface Made extends KnownEngine {
  readonly place: string;
}

/** Makes the engines of the settings and of the store of contexts beside `config.json`. */
export function createEngines(settings: Settings, system: System, meter: Meter): Engines {
  const { clock, files, env } = system;
  const environment = engineEnvironment(settings, env);
  const store = createContextStore(files, clientConfigDir(settings, system));
  const onMutation = () => meter.count("mutations_total", { by: "engine" });
  const own = createEngine({ env: environment, onMutation, clock });
  const socket = /^unix:\/\/(\/.*)$/.exec(settings.docker.host ?? "")?.[1];
  // By TCP it may be a proxy beside us: it is taken for the one of this machine.
  const isHere = !settings.docker.host?.startsWith("ssh:");
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
      // Calls may be under way: its connections are closed in the end.
      if (known !== undefined) replaced.push(known.client);
      const { DOCKER_API_VERSION: _ofTheDefault, ...rest } = environment;
      const client = createEngine({ endpoint, context, env: rest, onMutation, clock });
      const socket = endpoint.kind === "unix" ? { socket: endpoint.socketPath } : {};
      const fresh = { place, client, isHere: endpoint.kind === "unix", ...socket };
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

/** The directory of the docker client's configuration. */
export function clientConfigDir({ docker }: Settings, { env }: System): string {
  return docker.configDir ?? join(env["HOME"] ?? "/root", ".docker");
}

function unknownContext(context: string, names: readonly string[]): StackwrightError {
  return errors.bad_request(`unknown context: ${context}; there are ${names.join(", ")}`);
}
