import { resourcesOf } from "../compose/mod.ts";
import type { ResourceSummary } from "../docker/engine.ts";
import {
  COMPOSE_LABELS,
  type ComposeModel,
  errors,
  isOurs,
  LABELS,
  type StackKey,
  type StackOwner,
} from "../model/mod.ts";

interface VolumeFacts {
  /** Volumes of the engine that have the name of one in the model. */
  readonly existing: readonly Pick<ResourceSummary, "name" | "labels">[];
  /** The source that a stack of this engine belongs to, as far as that is recorded. */
  readonly ownerOf: (stack: string) => string | undefined;
}

/**
 * Refuses a model whose own volume is one of a stack of another source: compose goes on with a warning,
 * and two stacks write into one another's data. What is `external` is somebody else's by what its
 * author says, and stacks of one source are its author's business. Anybody may name the repository of a
 * volume to deploy from: that gives nobody a right to it.
 *
 * Throws `conflict`, which names the volume, the stack and the ways.
 */
export function requireOwnVolumes(
  key: StackKey,
  model: ComposeModel,
  { existing, ownerOf }: VolumeFacts,
  claimant: StackOwner,
): void {
  const byName = new Map(existing.map(({ name, labels }) => [name, labels]));
  for (const { key: name, name: volume } of ownVolumes(model)) {
    const { stack, repository } = makerOf(byName.get(volume) ?? {});
    if (stack === "" || stack === key.name) continue;
    const owner = ownerOf(stack) ?? repository;
    if (owner === undefined || owner === claimant.source) continue;
    throw errors.conflict(
      `volumes.${name}: volume ${volume} is stack ${stack}'s, which runs from ${owner}, so ` +
        `nothing was touched; give the volume another name, or say that it is shared on purpose: ` +
        `volumes.${name}.external: true`,
    );
  }
}

/** The engine's names of the volumes that a model makes; those of others are not among them. */
export function volumeNames(model: ComposeModel): string[] {
  return ownVolumes(model).map(({ name }) => name);
}

function ownVolumes(model: ComposeModel) {
  return resourcesOf(model, "volumes").filter(({ external }) => !external);
}

/**
 * The stack, or else the project, that a volume was made for, empty when nobody says; and the
 * repository: those of nobody are left to compose's warning.
 */
function makerOf(labels: Readonly<Record<string, string>>) {
  const ours = isOurs({ labels }) ? labels : {};
  return {
    stack: ours[LABELS.deployment] ?? labels[COMPOSE_LABELS.project] ?? "",
    repository: ours[LABELS.sourceName],
  };
}
