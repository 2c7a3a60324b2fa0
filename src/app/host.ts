import { DEFAULT_CONTEXT } from "../model/mod.ts";
import { dirname, join } from "node:path";
import { registrySecrets } from "../compose/mod.ts";
import {
  Compose,
  createEngineBackend,
  findComposeProgram,
  programEnvironment,
  proxyVariables,
  rendersAtOnce,
} from "../deploy/mod.ts";
import type { EngineClient } from "../docker/mod.ts";
import { createImages, type Host, UNTOUCHED_IMAGES } from "../prepare/mod.ts";
import type { ExternalSecrets } from "../secrets/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { createLimiter, type Meter, readMachineFacts, scratchPrefix } from "../system/mod.ts";
import { engineEnvironment } from "./engine_environment.ts";
import { findHostDataDirectory, findLocalPath, findOwnContainer } from "./host_data_directory.ts";
import { remembered } from "./remember.ts";
import type { System } from "./system.ts";

/** Milliseconds for which the engine's description is taken as still true. */
const ENGINE_INFO_LIFETIME_MS = 60_000;

/** Parts that a host is made from. */
export interface HostParts {
  readonly engine: EngineClient;
  readonly meter: Meter;
  readonly secrets: ExternalSecrets;
  /** Whether images stay as they are: whoever only looks fetches none. */
  readonly looksOnly: boolean;
}

/**
 * Makes the host of the engine that the settings name; asks it where the data directory lies.
 *
 * Throws what the engine throws, and `settings_invalid` where the data directory is on no volume.
 */
export async function createHost(
  settings: Settings,
  system: System,
  { engine, meter, secrets, looksOnly }: HostParts,
  signal: AbortSignal,
): Promise<Host> {
  const { clock, files, log, commands, env } = system;
  const { quiet, swarmFeatures } = settings.deploy;
  const { dir, hostDir } = settings.data;
  const bySsh = settings.docker.host?.startsWith("ssh:") === true;
  const program = programEnvironment({
    ...engineEnvironment(settings, env),
    ...(bySsh ? await engine.programVariables() : {}),
  });
  const clientConfigFile = clientConfigFileOf(settings, system);
  const { authConfig: logins } = settings.docker;
  const more = logins === undefined ? {} : { logins };
  const compose = new Compose({
    commands,
    findProgram: () => findComposeProgram(files, program),
    programEnvironment: program,
    // Which stack a line is about takes both names.
    log: log.with({ context: DEFAULT_CONTEXT }),
    scratch: { files, prefix: scratchPrefix("render") },
    rendering: createLimiter(rendersAtOnce(readMachineFacts())),
    quiet,
    onMutation: () => meter.count("mutations_total", { by: "compose" }),
    ...(logins === undefined ? {} : { logins: { logins, directory: dirname(clientConfigFile) } }),
  });
  const variables = () => proxies(settings, system, secrets);
  const parts = { engine, compose, files, log, secrets, meter, clock, clientConfigFile, ...more };
  const socket = socketOf(settings.docker.host);
  return {
    engine,
    info: remembered(clock, ENGINE_INFO_LIFETIME_MS, async (within) => {
      const info = await engine.info(within);
      return swarmFeatures ? info : { ...info, swarm: "inactive" };
    }),
    compose,
    backend: createEngineBackend({ engine, clock, log, quiet, compose, variables }),
    images: looksOnly ? UNTOUCHED_IMAGES : createImages(parts),
    dataDir: hostDir ?? await findHostDataDirectory({ files, engine }, dir, signal),
    ...(socket === undefined ? {} : { socket }),
    own: remembered(
      clock,
      Number.POSITIVE_INFINITY,
      (within) => findOwnContainer({ files, engine }, within),
    ),
    localPath: (path, within) => findLocalPath({ files, engine }, path, within),
  };
}

/** A path in DOCKER_HOST; containers that mount it have the engine. */
function socketOf(host: string | undefined): string | undefined {
  return /^unix:\/\/(\/.*)$/.exec(host ?? "")?.[1];
}

/** The configuration of the docker client, which holds credentials and proxies. */
function clientConfigFileOf({ docker }: Settings, { env }: System): string {
  return join(docker.configDir ?? join(env["HOME"] ?? "/root", ".docker"), "config.json");
}

/** What the docker client would tell every container of its proxies; their passwords are hidden. */
async function proxies(
  settings: Settings,
  system: System,
  secrets: ExternalSecrets,
): Promise<Record<string, string>> {
  const file = clientConfigFileOf(settings, system);
  const bytes = await system.files.readIfExists(file).catch(() => undefined);
  if (bytes === undefined) return {};
  const text = new TextDecoder().decode(bytes);
  secrets.hide(registrySecrets(text));
  return proxyVariables(text, system.env["DOCKER_HOST"] ?? "unix:///var/run/docker.sock");
}
