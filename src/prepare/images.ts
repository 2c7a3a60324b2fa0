import { namesBuilt, registrySecrets } from "../compose/mod.ts";
import {
  type Compose,
  type ComposeCall,
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
  COMPOSE_LABELS,
  errors,
  fewOf,
  type Imaged,
  isStackwrightError,
  messageOf,
  type Progress,
  type ReleaseService,
  type StackKey,
  StackwrightError,
  utf8,
} from "../model/mod.ts";
import type { ExternalSecrets } from "../secrets/mod.ts";
import { type Commands, createLimiter, type Files, type Log, withDeadline } from "../system/mod.ts";
import { keepImages, letNamedGo } from "./kept_names.ts";
import { type Measured, operation } from "./measure.ts";

/** Services of one stack whose images the engine must have. */
export interface WantedImages {
  readonly key: StackKey;
  readonly services: readonly Pick<ReleaseService, "name" | "image">[];
  readonly call: ComposeCall;
  /** Seconds that the deployment may take. */
  readonly timeoutSeconds: number;
  readonly progress: Progress;
}

/** Operations on an engine's images for preparing a release; without services, nothing is done. */
export interface Images {
  /** Fetches images. Throws `pull_failed`, with a hint on credentials, or `timeout`. */
  pull(wanted: WantedImages, signal: AbortSignal): Promise<void>;
  /**
   * Builds images, unless this is for planning only; answers whether it did. After a failure, names
   * point to the same images as before. Throws `build_failed` or `timeout`.
   */
  build(wanted: WantedImages, options: BuildOptions, signal: AbortSignal): Promise<boolean>;
  /** Points the names of services' images to `images`, which are by the names of {@link NamedImage}. */
  point(
    services: readonly Imaged[],
    images: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Keeps images whose names another build may take before containers are made of them. */
  keep(ids: readonly string[], signal: AbortSignal): Promise<void>;
  /** The registry's answer about an image, requested by the engine with our credentials. */
  distribution(image: string, signal: AbortSignal): Promise<Distribution>;
  /** Credentials for the registry of an image, as `X-Registry-Auth`; empty without any. */
  credentials(image: string, signal: AbortSignal): Promise<string>;
}

/** Images for planning only, which never change the engine. */
export const UNTOUCHED_IMAGES: Images = {
  pull: () => Promise.resolve(),
  build: () => Promise.resolve(false),
  point: () => Promise.resolve(),
  keep: () => Promise.resolve(),
  distribution: () => Promise.resolve({ kind: "unknown", why: "" }),
  credentials: () => Promise.resolve(""),
};

interface ImagesParts extends Measured {
  readonly engine: Engine;
  readonly compose: Compose;
  readonly files: Files;
  readonly log: Log;
  readonly commands: Pick<Commands, "run">;
  /** Variables for credential helpers. */
  readonly programEnvironment: Readonly<Record<string, string>>;
  readonly secrets: Pick<ExternalSecrets, "hide">;
  /** The docker client's configuration file with registry credentials; may be missing. */
  readonly clientConfigFile: string;
  /** Further credentials, which compose gets as well (`DOCKER_AUTH_CONFIG`). */
  readonly logins?: string;
}

/** Shortest limit for pulls and builds: slow ones are fine, but a hung one must not hold a slot. */
const SHORTEST_LIMIT_SECONDS = 15 * 60;

/** Makes the image operations of an engine. */
export function createImages(parts: ImagesParts): Images {
  return {
    pull: (wanted, signal) => pull(parts, wanted, signal),
    build: (wanted, options, signal) => build(parts, wanted, options, signal),
    point: (services, images, signal) => pointTags(parts.engine, services, images, signal),
    keep: async (ids, signal) => void await keepImages(parts.engine, ids, signal),
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

async function pull(parts: ImagesParts, wanted: WantedImages, signal: AbortSignal): Promise<void> {
  const { services, call } = wanted;
  if (services.length === 0) return;
  const names = services.map((each) => each.name);
  const images = services.map((each) => each.image);
  try {
    const work = async (within: AbortSignal) => {
      await hideCredentials(parts, images, within);
      await parts.compose.pull(call, names, within);
    };
    await withinLimit(parts, { stage: "pull", doing: "pulling", wanted }, work, signal);
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

async function build(
  parts: ImagesParts,
  wanted: WantedImages,
  { forceImagePull, noCache, quiet }: BuildOptions,
  signal: AbortSignal,
): Promise<boolean> {
  if (wanted.services.length === 0) return true;
  const services = wanted.services.map((each) => each.name);
  const asked = { services, pull: forceImagePull, noCache, quiet };
  await clientConfiguration(parts);
  const named = await imagesNamed(parts, wanted, signal);
  const before = [...named.values()].filter((id) => id !== undefined);
  const kept = await keepImages(parts.engine, before, signal);
  try {
    const work = (within: AbortSignal) =>
      unlessTaken(() => parts.compose.build(wanted.call, asked, within));
    await withinLimit(parts, { stage: "build", doing: "building", wanted }, work, signal);
    return true;
  } catch (error) {
    signal.throwIfAborted();
    await nameAgain(parts, wanted.key, named, signal);
    throw error;
  } finally {
    if (!signal.aborted) await letNamedGo(parts, kept, signal);
  }
}

/** Attempts at a build whose names other builds take at the same time. */
const MOST_TRIES = 4;

/** Repeats a build that fails because another one gives the same name, in containerd's store. */
async function unlessTaken(build: () => Promise<void>): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      return await build();
    } catch (error) {
      if (tries === MOST_TRIES || !/^.*\bimage\b.*: already exists/m.test(messageOf(error))) {
        throw error;
      }
    }
  }
}

interface Doing {
  readonly stage: "pull" | "build";
  readonly doing: string;
  readonly wanted: WantedImages;
}

/** Runs work with a limit: a quarter of an hour, or the deployment's timeout if that is longer. */
async function withinLimit(
  parts: ImagesParts,
  { stage, doing, wanted: { key, services, timeoutSeconds, progress } }: Doing,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const what = `${doing} ${fewOf(services.map((each) => each.name))}`;
  progress(what);
  parts.log.info(what, { stack: key.name, context: key.context, stage });
  const seconds = Math.max(timeoutSeconds, SHORTEST_LIMIT_SECONDS);
  const late = () =>
    errors.timeout(
      `${what} of ${key.name} was not done within ${seconds} s and was given up; nothing that runs was touched`,
    );
  const limit = { clock: parts.clock, milliseconds: seconds * 1000, late };
  await operation(parts, stage, () => withDeadline(limit, work, signal));
}

/** Names of one build that are looked up: a list of tags may have any length. */
const MOST_NAMES = 1000;

/** Image ids by name; `undefined` for names without an image. */
type Named = ReadonlyMap<string, string | undefined>;

/** The current images behind the names that a build will give. */
async function imagesNamed(
  { engine }: ImagesParts,
  { services, call: { model = {} } }: WantedImages,
  signal: AbortSignal,
): Promise<Named> {
  const named = new Map<string, string | undefined>();
  const names = [
    ...services.map(({ image }) => image),
    ...namesBuilt(model, services.map(({ name }) => name)),
  ];
  for (const each of [...new Set(names)].slice(0, MOST_NAMES)) {
    named.set(each, await engine.imageId(each, signal));
  }
  return named;
}

/**
 * Restores names that successful builds took, when another build beside them failed: those images
 * were never released. Builds cannot use other names, as one Dockerfile may name another's image. What
 * another stack's build gave a name meanwhile stays.
 */
async function nameAgain(
  { engine, log }: ImagesParts,
  { name }: StackKey,
  named: Named,
  signal: AbortSignal,
) {
  try {
    for (const [image, before] of named) {
      const now = await engine.imageId(image, signal);
      if (now === before) continue;
      const labels = now === undefined ? undefined : await engine.imageLabels(now, signal);
      if (now !== undefined && labels?.[COMPOSE_LABELS.project] !== name) continue;
      if (before === undefined) await engine.removeImage(image, signal);
      else await engine.tagImage(before, image, signal);
    }
  } catch (error) {
    signal.throwIfAborted();
    // The failed build is the error to report; scaling uses the running images, not names.
    log.warning(`images of a failed build keep their names: ${messageOf(error)}`);
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
