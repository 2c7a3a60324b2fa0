import { type ComposeCall, imagesByService, pointTags, registryHint } from "../deploy/mod.ts";
import {
  pullsAlways,
  pullsNever,
  registrySecrets,
  requirePullable,
  withBuildArguments,
  withBuildPaths,
} from "../compose/mod.ts";
import {
  isStackwrightError,
  messageOf,
  type ObservedStack,
  type Plan,
  type ReleaseService,
  StackwrightError,
} from "../model/mod.ts";
import { withImageLimit } from "./image_limit.ts";
import { operation } from "./measure.ts";
import { actingVariables } from "./model_values.ts";
import type { PrepareParts } from "./parts.ts";
import type { PreparedRelease } from "./prepare_release.ts";
import type { Target } from "./target.ts";

/**
 * Fetches the images whose tag may have moved, for every service (`force_image_pull`) or for those
 * with `pull_policy: always`, and returns the image each of them would run. Without either it costs nothing and returns nothing. A release
 * that is deployed stays so while a registry is away, and is repaired from what is here.
 *
 * Throws `pull_failed` for a release that is not deployed yet.
 */
export async function refreshImages(
  parts: PrepareParts,
  target: Target,
  { prepared, isDeployed }: { readonly prepared: PreparedRelease; readonly isDeployed: boolean },
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const { release } = prepared;
  const { forceImagePull } = target.deployment;
  const pullable = release.services.filter((each) =>
    !each.builds && each.image !== "" && each.expectation.replicas > 0 &&
    (pullsAlways(release, each.name) || (forceImagePull && !pullsNever(release, each.name)))
  );
  if (pullable.length === 0) return {};
  try {
    await pull(parts, target, prepared, pullable, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isDeployed || !isStackwrightError(error, "pull_failed")) throw error;
    parts.log.warning(`whether tags have moved is not known: ${messageOf(error)}`, {
      stack: target.key.name,
    });
  }
  const images: Record<string, string> = {};
  for (const service of pullable) {
    const id = await parts.engine.imageId(service.image, signal);
    if (id !== undefined) images[service.name] = id;
  }
  return images;
}

/**
 * Sees to it that every image a plan needs is on the engine: pulls what is missing, builds what
 * changed. Nothing that runs is touched, and when a build fails, names mean what they did before.
 * More containers of a service that was built get the image that the others run: its name may mean
 * one that was never released.
 *
 * Throws `pull_failed` or `build_failed`.
 */
export async function prepareImages(
  parts: PrepareParts,
  target: Target,
  prepared: PreparedRelease,
  { plan, observed }: { readonly plan: Plan; readonly observed: ObservedStack },
  signal: AbortSignal,
): Promise<void> {
  const acting = new Map(plan.services.map((each) => [each.name, each.action]));
  const needed = prepared.release.services.filter((service) => {
    const action = acting.get(service.name);
    return service.expectation.replicas > 0 && action !== undefined && action !== "keep" &&
      action !== "remove";
  });
  const scaled = needed.filter((each) => each.builds && acting.get(each.name) === "scale");
  await pointTags(parts.engine, scaled, imagesByService(observed), signal);
  const missing = await missingImages(parts, needed, signal);
  const builds = needed.filter((each) =>
    each.builds && (acting.get(each.name) !== "start" && acting.get(each.name) !== "scale" ||
      missing.has(each.name))
  );
  const pulls = needed.filter((each) => !each.builds && missing.has(each.name));
  requirePullable(prepared.release, pulls);
  await pull(parts, target, prepared, pulls, signal);
  await build(parts, target, prepared, builds, signal);
}

async function missingImages(
  parts: PrepareParts,
  services: readonly ReleaseService[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const missing = new Set<string>();
  for (const service of services) {
    if (service.image === "") continue;
    if (await parts.engine.imageId(service.image, signal) === undefined) missing.add(service.name);
  }
  return missing;
}

async function pull(
  parts: PrepareParts,
  target: Target,
  prepared: PreparedRelease,
  services: readonly ReleaseService[],
  signal: AbortSignal,
): Promise<void> {
  if (services.length === 0) return;
  const names = services.map((each) => each.name);
  target.progress(`pulling ${names.join(", ")}`);
  parts.log.info(`pulling ${names.join(", ")}`, { stack: target.key.name, stage: "pull" });
  const call = hereCall(target, prepared);
  const images = services.map((each) => each.image);
  await clientConfiguration(parts);
  const doing = `pulling ${names.join(", ")} of ${target.key.name}`;
  const limit = { doing, timeoutSeconds: target.deployment.timeoutSeconds };
  const pull = (within: AbortSignal) => parts.compose.pull(call, names, within);
  const work = () => operation(parts, "pull", () => withImageLimit(parts, limit, pull, signal));
  await withHint(parts, images, work);
}

async function build(
  parts: PrepareParts,
  target: Target,
  prepared: PreparedRelease,
  services: readonly ReleaseService[],
  signal: AbortSignal,
): Promise<void> {
  if (services.length === 0) return;
  const { args, forceImagePull, noCache, quiet } = target.deployment.build;
  const names = services.map((each) => each.name);
  target.progress(`building ${names.join(", ")}`);
  parts.log.info(`building ${names.join(", ")}`, { stack: target.key.name, stage: "build" });
  const asked = { services: names, pull: forceImagePull, noCache, quiet };
  const plain = hereCall(target, prepared);
  const call = { ...plain, model: withBuildArguments(plain.model ?? {}, args) };
  await clientConfiguration(parts);
  const doing = `building ${names.join(", ")} of ${target.key.name}`;
  const limit = { doing, timeoutSeconds: target.deployment.timeoutSeconds };
  const work = (within: AbortSignal) => parts.compose.build(call, asked, within);
  const named = await imagesNamed(parts, services, signal);
  try {
    await operation(parts, "build", () => withImageLimit(parts, limit, work, signal));
  } catch (error) {
    signal.throwIfAborted();
    await nameAgain(parts, named, signal);
    throw error;
  }
}

/** What the images of services mean now, by name; nothing where there is no such image. */
async function imagesNamed(
  { engine }: PrepareParts,
  services: readonly ReleaseService[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string | undefined>> {
  const named = new Map<string, string | undefined>();
  for (const { image } of services) named.set(image, await engine.imageId(image, signal));
  return named;
}

/**
 * Undoes what builds that worked did to names, when one beside them failed: nobody released that. A
 * Dockerfile may name what another service builds, so they cannot be built under other names.
 */
async function nameAgain(
  { engine, log }: PrepareParts,
  named: ReadonlyMap<string, string | undefined>,
  signal: AbortSignal,
): Promise<void> {
  try {
    for (const [image, before] of named) {
      if (await engine.imageId(image, signal) === before) continue;
      if (before === undefined) await engine.removeImage(image, signal);
      else await engine.tagImage(before, image, signal);
    }
  } catch (error) {
    signal.throwIfAborted();
    // The build that failed is what is to be told; scaling looks at what runs, not at names.
    log.warning(`images of a failed build keep their names: ${messageOf(error)}`);
  }
}

/** Adds to the failure of `work` what is known about the credentials for the registries of `images`. */
async function withHint(
  parts: PrepareParts,
  images: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isStackwrightError(error, "pull_failed")) throw error;
    const hint = registryHint(error.message, images, {
      path: parts.options.clientConfigFile,
      text: await clientConfiguration(parts),
    });
    if (hint === "") throw error;
    throw new StackwrightError(error.code, `${error.message}\n${hint}`, { cause: error });
  }
}

/**
 * The engine client's configuration, whose credentials are unprintable from then on: it is read anew
 * before each use, since people log in while we run.
 */
async function clientConfiguration(parts: PrepareParts): Promise<string | undefined> {
  const bytes = await parts.files.readIfExists(parts.options.clientConfigFile)
    .catch(() => undefined);
  const text = bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  if (text !== undefined) parts.secrets.hide(registrySecrets(text));
  return text;
}

/** The release as compose gets it, but with build paths that exist before the files are switched. */
function hereCall(target: Target, prepared: PreparedRelease): ComposeCall {
  const { release, tree, rendered } = prepared;
  return {
    project: {
      name: target.key.name,
      directory: tree,
      files: ["-"],
      envFiles: [],
      profiles: [],
    },
    variables: actingVariables(release.invocation),
    model: withBuildPaths(release.model, rendered),
  };
}
