import { registrySecrets } from "../compose/mod.ts";
import {
  type Compose,
  credentialHelper,
  helperConfiguration,
  mergedLogins,
  pointTags,
  registryAuth,
  registryHint,
} from "../deploy/mod.ts";
import { readClientConfig } from "../docker/client_config.ts";
import type { Engine } from "../docker/engine.ts";
import type { Distribution } from "../docker/swarm.ts";
import {
  type BuildOptions,
  fewOf,
  type Imaged,
  isStackwrightError,
  messageOf,
  StackwrightError,
  utf8,
} from "../model/mod.ts";
import type { ExternalSecrets } from "../secrets/mod.ts";
import { type Commands, createLimiter, type Files } from "../system/mod.ts";
import { buildImages } from "./built_images.ts";
import { HeardPull } from "./heard_pull.ts";
import { keepImages, nameFound, namingFound, type PullNotes } from "./kept_names.ts";
import type { ImageIds } from "./known_images.ts";
import type { WantedImages } from "./wanted_images.ts";
import { type LimitedParts, withinLimit } from "./within_limit.ts";

/** Operations on an engine's images for preparing a release; without services, nothing is done. */
export interface Images {
  /** Fetches images. Throws `pull_failed`, with a hint on credentials, or `timeout`. */
  pull(wanted: WantedImages, signal: AbortSignal): Promise<void>;
  /**
   * Builds images, unless this is for planning only; answers with their ids, as {@link buildImages} does, then.
   * After a failure, names point to the same images as before. Throws `build_failed` or `timeout`.
   */
  build(
    wanted: WantedImages,
    options: BuildOptions,
    signal: AbortSignal,
  ): Promise<ImageIds | undefined>;
  /** Points the names of services' images to `images`, which are by the names of {@link NamedImage}. */
  point(
    services: readonly Imaged[],
    images: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Keeps images whose names another build may take before containers are made of them. */
  keep(ids: readonly string[], signal: AbortSignal): Promise<void>;
  /** Marks what a pull that was cut off has found, as {@link nameFound} does: before images are removed. */
  nameFound(signal: AbortSignal): Promise<void>;
  /** The registry's answer about an image, requested by the engine with our credentials. */
  distribution(image: string, signal: AbortSignal): Promise<Distribution>;
  /** Credentials for the registry of an image, as `X-Registry-Auth`; empty without any. */
  credentials(image: string, signal: AbortSignal): Promise<string>;
}

/** Images for planning only, which never change the engine. */
export const UNTOUCHED_IMAGES: Images = {
  pull: () => Promise.resolve(),
  build: () => Promise.resolve(undefined),
  point: () => Promise.resolve(),
  keep: () => Promise.resolve(),
  nameFound: () => Promise.resolve(),
  distribution: () => Promise.resolve({ kind: "unknown", why: "" }),
  credentials: () => Promise.resolve(""),
};

interface ImagesParts extends LimitedParts {
  readonly engine: Engine;
  readonly compose: Compose;
  readonly files: Files;
  readonly commands: Pick<Commands, "run">;
  readonly pulls: PullNotes;
  /** Variables for credential helpers. */
  readonly programEnvironment: Readonly<Record<string, string>>;
  readonly secrets: Pick<ExternalSecrets, "hide">;
  /** The docker client's configuration file with registry credentials; may be missing. */
  readonly clientConfigFile: string;
  /** Further credentials, which compose gets as well (`DOCKER_AUTH_CONFIG`). */
  readonly logins?: string;
}

/** Makes the image operations of an engine. */
export function createImages(parts: ImagesParts): Images {
  const left = new Map<string, number>();
  return {
    pull: (wanted, signal) => pull(parts, left, wanted, signal),
    build: async (wanted, options, signal) => {
      if (wanted.services.length === 0) return {};
      await clientConfiguration(parts);
      return await buildImages(parts, wanted, options, signal);
    },
    point: (services, images, signal) => pointTags(parts.engine, services, images, signal),
    keep: async (ids, signal) => void await keepImages(parts.engine, ids, signal),
    nameFound: (signal) => nameFound(parts, signal),
    distribution: async (image, signal) => {
      const auth = await credentials(parts, image, signal);
      return await parts.engine.swarm.distribution(image, auth, signal);
    },
    credentials: (image, signal) => credentials(parts, image, signal),
  };
}

/** Milliseconds for a credential helper, which may ask a cloud service. */
const HELPER_LIMIT_MS = 60_000;
/** Credential helpers run at once: a repository may name hundreds of registries. */
const HELPERS_AT_ONCE = 4;

/** Credentials from the configuration or its credential helper; empty without any. */
async function credentials(parts: ImagesParts, image: string, signal: AbortSignal) {
  const configuration = await clientConfiguration(parts);
  const own = registryAuth(configuration, image);
  const helper = credentialHelper(configuration, image);
  if (helper === undefined) return own;
  const { program, server } = helper;
  try {
    const { code, stdout } = await parts.commands.run({
      argv: [program, "get"],
      env: parts.programEnvironment,
      stdin: server,
      timeoutMs: HELPER_LIMIT_MS,
      mostBytes: 1 << 20,
    }, signal);
    const answer = utf8(stdout);
    const known = code === 0 ? helperConfiguration(answer, helper) : undefined;
    if (known === undefined) {
      parts.log.debug(`${program} knows no credentials of ${server}: exit code ${code}`);
      return own;
    }
    parts.secrets.hide(registrySecrets(known));
    return registryAuth(known, image);
  } catch (error) {
    signal.throwIfAborted();
    parts.log.warning(`${program} was not asked for credentials of ${server}: ${messageOf(error)}`);
    return own;
  }
}

/** Hides the credentials that compose will use from all output: a registry may repeat them. */
async function hideCredentials(parts: ImagesParts, images: readonly string[], signal: AbortSignal) {
  const configuration = await clientConfiguration(parts);
  const kept = new Map(images.map((each) => [credentialHelper(configuration, each)?.server, each]));
  kept.delete(undefined);
  const few = createLimiter(HELPERS_AT_ONCE);
  const ask = (image: string) => few.run(() => credentials(parts, image, signal), signal);
  await Promise.all([...kept.values()].map(ask));
}

async function pull(
  parts: ImagesParts,
  left: Map<string, number>,
  wanted: WantedImages,
  signal: AbortSignal,
): Promise<void> {
  const { key, services, call } = wanted;
  if (services.length === 0) return;
  const names = services.map((each) => each.name);
  const images = services.map((each) => each.image);
  try {
    const heard = new HeardPull(parts.clock, left);
    const doing = `pulling ${fewOf(names)} of ${key.name}`;
    const work = async (within: AbortSignal) => {
      await hideCredentials(parts, images, within);
      const listened = (hear: (line: string) => void, until: AbortSignal) =>
        parts.compose.pull(call, names, until, hear);
      await heard.run(doing, listened, within);
    };
    const waitsFor = () => heard.waitsFor();
    const pulling = { stage: "pull", doing: "pulling", wanted, waitsFor } as const;
    const pulls = () => withinLimit(parts, pulling, work, signal);
    await namingFound(parts, pulls, signal);
  } catch (error) {
    if (!isStackwrightError(error, "pull_failed")) throw error;
    const hint = registryHint(error.message, images, {
      path: parts.clientConfigFile,
      text: await clientConfiguration(parts),
    });
    if (hint === "") throw error;
    throw new StackwrightError(error.code, `${error.message}\n${hint}`, { cause: error });
  }
}

/**
 * The docker client's configuration, with its credentials hidden from all output from now on. Read
 * before each use, since people log in at any time.
 */
async function clientConfiguration(parts: ImagesParts): Promise<string | undefined> {
  const text = await readClientConfig(parts.files, parts.clientConfigFile);
  if (text !== undefined) parts.secrets.hide(registrySecrets(text));
  return parts.logins === undefined ? text : mergedLogins(text, parts.logins);
}
