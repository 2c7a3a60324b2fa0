import { dirname, join } from "node:path";
import { registrySecrets } from "../compose/mod.ts";
import {
  Compose,
  createEngineBackend,
  findComposeProgram,
  hasBuildx,
  programEnvironment,
  proxyVariables,
  rendersAtOnce,
} from "../deploy/mod.ts";
import { localPath, readClientConfig } from "../docker/mod.ts";
import { DEFAULT_CONTEXT } from "../model/mod.ts";
import { createImages, type Host, UNTOUCHED_IMAGES } from "../prepare/mod.ts";
import type { Ledger } from "../record/ledger.ts";
import type { ExternalSecrets } from "../secrets/mod.ts";
import type { Settings } from "../settings/mod.ts";
import {
  createFairLimiter,
  createSlots,
  type Meter,
  readMachineFacts,
  scratchPrefix,
} from "../system/mod.ts";
import { engineEnvironment } from "./engine_environment.ts";
import { clientConfigDir, type KnownEngine } from "./engines.ts";
import { findHostDataDirectory } from "./host_data_directory.ts";
import { remembered } from "./remember.ts";
import type { System } from "./system.ts";

/** Milliseconds for which the description of an engine stays valid. */
const ENGINE_INFO_LIFETIME_MS = 60_000;

/** Parts for making a host. */
export interface HostParts {
  readonly engine: KnownEngine;
  readonly context: string;
  /** The data directory as the engine's host sees it, if known. */
  readonly dataDir?: string;
  readonly meter: Meter;
  readonly secrets: ExternalSecrets;
  /** Whether to leave images as they are, as plans do. */
  readonly looksOnly: boolean;
  /** Notes what the engine says that it is, whenever it is asked: whose a stack is depends on that; and pulls. */
  readonly ledger: Pick<Ledger, "owners" | "pulls">;
}

/**
 * Makes the host of an engine; asks this machine's engine where the data directory is.
 *
 * Throws what the engine throws, and `data_dir_unusable` where the data directory is on no volume.
 */
export async function createHost(
  settings: Settings,
  system: System,
  {
    engine: { client: engine, isHere, own, sharesFiles, socket },
    context,
    meter,
    secrets,
    looksOnly,
    ledger,
    ...known
  }: HostParts,
  signal: AbortSignal,
): Promise<Host> {
  const { clock, files, log, commands, env } = system;
  const { quiet, swarmFeatures } = settings.deploy;
  const { dir, hostDir } = settings.data;
  const variablesOf = engineEnvironment(settings, env);
  const isOwn = context === DEFAULT_CONTEXT && !variablesOf["DOCKER_HOST"]?.startsWith("ssh:");
  const program = programEnvironment({
    ...variablesOf,
    ...(isOwn ? {} : await engine.programVariables()),
    ...(context === DEFAULT_CONTEXT ? {} : { DOCKER_API_VERSION: undefined }),
  });
  const clientConfigFile = join(clientConfigDir(settings, system), "config.json");
  const { authConfig: logins } = settings.docker;
  const more = logins === undefined ? {} : { logins };
  const compose = createCompose(settings, system, { context, meter, program, clientConfigFile });
  const address = program["DOCKER_HOST"] ?? "unix:///var/run/docker.sock";
  const variables = () => proxies(system, { secrets, clientConfigFile, address });
  const info = remembered(clock, ENGINE_INFO_LIFETIME_MS, async (within) => {
    const told = await engine.info(within);
    ledger.owners.noteEngine(context, told);
    return swarmFeatures ? told : { ...told, swarm: "inactive" as const };
  });
  const pulls = ledger.pulls.of(context);
  const ports = { compose, commands, files, log, secrets, meter, clock, pulls };
  const asked = { engine: { ...engine, info }, programEnvironment: program, clientConfigFile };
  const data = known.dataDir ?? hostDir;
  return {
    engine,
    info,
    compose,
    backend: (engine) => createEngineBackend({ engine, clock, log, quiet, compose, variables }),
    images: looksOnly ? UNTOUCHED_IMAGES : createImages({ ...ports, ...asked, ...more }),
    ...(context === DEFAULT_CONTEXT
      ? {}
      : { slots: createSlots(settings.deploy.concurrent, clock) }),
    sharesFiles,
    isHere,
    copiesFiles: !sharesFiles && settings.deploy.remoteFiles === "volume",
    dataDir: !sharesFiles ? dir : data ?? await findHostDataDirectory(own, dir, signal),
    ...(socket === undefined ? {} : { socket }),
    own,
    localPath: (path, within) =>
      sharesFiles ? pathHere(own, path, within) : Promise.resolve(undefined),
  };
}

/** Path at which this process sees a path of the engine's host; `undefined` where no mount has it. */
async function pathHere(own: Host["own"], path: string, signal: AbortSignal) {
  const { mounts = [] } = await own(signal) ?? {};
  return mounts.length === 0 ? path : localPath(path, mounts);
}

function createCompose(
  { deploy: { quiet }, docker: { authConfig: logins } }: Settings,
  { commands, files, log }: System,
  { context, meter, program, clientConfigFile }: {
    readonly context: string;
    readonly meter: Meter;
    /** Environment that the program itself needs. */
    readonly program: Readonly<Record<string, string>>;
    readonly clientConfigFile: string;
  },
): Compose {
  return new Compose({
    commands,
    findProgram: () => findComposeProgram(files, program),
    hasBuildx: () => hasBuildx(files, program),
    programEnvironment: program,
    // A stack is identified by its context and its name.
    log: log.with({ context }),
    scratch: { files, prefix: scratchPrefix("render") },
    rendering: createFairLimiter(rendersAtOnce(readMachineFacts())),
    quiet,
    onMutation: () => meter.count("mutations_total", { by: "compose" }),
    ...(logins === undefined ? {} : { logins: { logins, directory: dirname(clientConfigFile) } }),
  });
}

/** Proxy variables that the docker client would set in every container; hides their passwords. */
async function proxies(
  { files }: System,
  { secrets, clientConfigFile, address }: {
    readonly secrets: ExternalSecrets;
    readonly clientConfigFile: string;
    /** Address of the engine: the configuration may have other proxies for each. */
    readonly address: string;
  },
): Promise<Record<string, string>> {
  const text = await readClientConfig(files, clientConfigFile);
  if (text === undefined) return {};
  secrets.hide(registrySecrets(text));
  return proxyVariables(text, address);
}
