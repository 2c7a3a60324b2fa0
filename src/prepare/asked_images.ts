import { withBuildArguments, withBuildPaths, withOwnCaches } from "../compose/mod.ts";
import type { ComposeCall } from "../deploy/mod.ts";
import type { ReleaseService } from "../model/mod.ts";
import { cacheNamespace } from "./cache_namespace.ts";
import { actingVariables } from "./model_values.ts";
import type { PrepareParts } from "./parts.ts";
import type { PreparedRelease } from "./prepare_release.ts";
import type { Target } from "./target.ts";
import type { WantedImages } from "./wanted_images.ts";

/** Request for the images of a target's services. */
export function wanted(
  target: Target,
  prepared: PreparedRelease,
  services: readonly ReleaseService[],
): WantedImages {
  const { key, progress, deployment: { timeoutSeconds } } = target;
  return { key, services, call: hereCall(target, prepared), timeoutSeconds, progress };
}

/** Request for the builds of a target's services, with the arguments and caches that they may use. */
export function wantedBuilds(
  parts: PrepareParts,
  target: Target,
  prepared: PreparedRelease,
  services: readonly ReleaseService[],
): WantedImages {
  const asked = wanted(target, prepared, services);
  const given = withBuildArguments(asked.call.model ?? {}, target.deployment.build.args);
  const model = withOwnCaches(given, (own) => cacheNamespace(parts, target, own));
  return { ...asked, call: { ...asked.call, model } };
}

/** Arguments for compose, with build paths that exist before the files are switched. */
function hereCall(target: Target, prepared: PreparedRelease): ComposeCall {
  const { release, tree, rendered } = prepared;
  return {
    project: { name: target.key.name, directory: tree, files: ["-"], envFiles: [], profiles: [] },
    variables: actingVariables(release.invocation),
    model: withBuildPaths(release.model, rendered),
  };
}
