import {
  configurationText,
  leftOutByCompose,
  makeRelease,
  requireKnownToEngine,
  requireStartFirst,
  resourcesOf,
} from "../compose/mod.ts";
import {
  meaninglessIn,
  type ReleaseOnDisk,
  requireSameVolumes,
  requireShortUpdates,
  requireStack,
  STACK_LABELS,
  stackDirectories,
  volumesOf,
  withPlainDollars,
} from "../deploy/mod.ts";
import type { ResourceSummary } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ComposeModel,
  type InputClosure,
  LABELS,
  type StackKey,
} from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";
import { arrivingModel } from "./remote_files.ts";
import { type RenderedTarget, renderTarget } from "./render_target.ts";
import type { ResolvedTarget } from "./resolve_secrets.ts";
import { swarmSources } from "./swarm_sources.ts";
import { withSecrets } from "./reveal_inputs.ts";
import { hidingOwner } from "./target.ts";
import { type UsedContent, usedContent } from "./used_content.ts";
import { variablesOf } from "./variables.ts";

export { renderProject, type Trees } from "./render_project.ts";

/** A rendered release that has changed nothing yet. */
export interface PreparedRelease extends ReleaseOnDisk {
  /** The stack's networks on the engine. */
  readonly networks: readonly ResourceSummary[];
  /** The model as compose printed it, with paths of the tree, for building images. */
  readonly rendered: ComposeModel;
}

/**
 * Makes the release of a target: puts its tree on disk, renders it and digests everything that can
 * change a container. Reads the engine, and changes nothing on it.
 *
 * Throws `config_invalid`, `conflict`, `path_escapes`, `render_failed`, `unsupported`,
 * `data_dir_unusable`, and what the source throws.
 */
export async function prepareRelease(
  parts: PrepareParts,
  target: ResolvedTarget,
  signal: AbortSignal,
): Promise<PreparedRelease> {
  const rendered = await renderTarget(parts, target, signal);
  const content = await usedContent(parts, target, rendered, signal);
  await rendered.plain.hideFiles(rendered.model, rendered.tree, rendered.invocation.values);
  const prepared = await releaseOf(parts, target, { rendered, content }, signal);
  const { key, model: made } = prepared.release;
  const api = () => parts.host.engine.apiVersion(signal);
  const leftOut = prepared.release.swarm === undefined ? leftOutByCompose(made) : [];
  for (const text of [...leftOut, ...await requireKnownToEngine(made, key.name, api)]) {
    parts.log.warning(text, { stack: key.name, context: key.context });
  }
  const { tree, beside, model } = rendered;
  const placed = beside?.tree === undefined ? {} : { configurationTree: beside.tree };
  return { ...prepared, tree, ...placed, rendered: model };
}

interface Prepared {
  readonly rendered: RenderedTarget;
  readonly content: UsedContent;
}

async function releaseOf(
  parts: PrepareParts,
  target: ResolvedTarget,
  { rendered, content }: Prepared,
  signal: AbortSignal,
): Promise<Pick<PreparedRelease, "release" | "networks">> {
  const { key, revision, deployment } = target;
  const { tree, beside, model, invocation, inactive, unused } = rendered;
  const { uses, inPlace, live, manifest, contentOf } = content;
  const isStack = target.swarm !== undefined;
  const remote = { model, tree, uses, inPlace, isStack, contentOf };
  const arriving = parts.host.sharesFiles
    ? model
    : await arrivingModel(parts, deployment, remote, signal);
  const resources = await resourcesThere(parts, key, arriving, signal);
  const release = makeRelease({
    ...{ key, revision },
    ...(beside === undefined ? {} : { configuration: beside.revision }),
    target: target.configTarget,
    timeoutSeconds: deployment.timeoutSeconds,
    workingDir: deployment.workingDir,
    ...(target.swarm === undefined ? {} : { swarm: target.swarm }),
    discovered: target.discovered !== undefined,
    rendered: arriving,
    ...(isStack || inactive.length === 0 ? {} : { inactive }),
    ...(unused && { unused }),
    invocation: await withSecrets(invocation, model, {
      hidden: rendered.plain.texts,
      others: rendered.revealed.others,
      hides: (text) => parts.secrets.hides(text, hidingOwner(target)),
    }),
    tree,
    stackDirectory: stackDirectories(parts.host.dataDir, key).stack,
    uses,
    inPlace,
    live,
    liveManifest: manifest,
    closure: closureOf(parts, target, { rendered, content }),
    foreignResources: resources.foreign,
    buildArguments: deployment.build.args,
    contentOf,
    digest: (text) => parts.key.digest(text),
  });
  if (release.swarm !== undefined) {
    await requireStack(swarmSources(parts), { release, tree });
    for (const text of meaninglessIn(release.model)) {
      parts.log.info(text, { stack: key.name, context: key.context });
    }
    const own = await parts.host.engine.listNetworks(
      { [STACK_LABELS.namespace]: key.name },
      signal,
    );
    return { release, networks: own };
  }
  requireSameVolumes(release.model, resources.volumes);
  requireStartFirst(withPlainDollars(release.model));
  // A release's model has no numbers of replicas, so the rendered one is checked.
  requireShortUpdates(withPlainDollars(arriving));
  return { release, networks: resources.networks };
}

/** Everything that the release was made from, for a cheap comparison at the next check. */
function closureOf(
  { key, host, options }: PrepareParts,
  target: ResolvedTarget,
  { rendered, content }: Prepared,
): InputClosure {
  const { inputs, beside } = rendered;
  const { ids, identities } = content;
  const variables = variablesOf({ options }, target);
  return {
    configuration: key.digest(configurationText(target.deployment, variables, host.dataDir)),
    complete: inputs.complete,
    paths: Object.fromEntries(ids),
    ...(identities.size === 0
      ? {}
      : { encrypted: [...identities.keys()].sort(), recordsTexts: true }),
    ...(beside === undefined ? {} : { configurationPaths: beside.ids }),
  };
}

/**
 * Networks of the project, volumes of the project or stack where the model has any, and the names of those
 * without our labels.
 */
async function resourcesThere(
  { host: { engine } }: PrepareParts,
  key: StackKey,
  model: ComposeModel,
  signal: AbortSignal,
) {
  const [networks, volumes] = await Promise.all([
    engine.listNetworks({ [COMPOSE_LABELS.project]: key.name }, signal),
    resourcesOf(model, "volumes").length === 0 ? [] : volumesOf(engine, key, signal),
  ]);
  const foreign = [...networks, ...volumes].filter((each) =>
    each.labels[LABELS.manager] === undefined
  );
  return { networks, volumes, foreign: new Set(foreign.map((each) => each.name)) };
}
