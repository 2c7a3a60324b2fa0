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
  /** Volumes of the engine that have the same name as a volume in the model. */
  readonly existing: readonly Pick<ResourceSummary, "name" | "labels">[];
  /** The source that owns a stack of this engine, as far as that is recorded. */
  readonly ownerOf: (stack: string) => string | undefined;
}

/**
 * Refuses a model that defines a volume as its own which belongs to a stack of another source:
 * compose would only warn, and both stacks would write to the same data. A volume that is
 * `external` is shared on purpose, and stacks of one source may share. Naming the repository that a
 * volume was deployed from gives no right to it: anybody may deploy from that repository.
 *
 * Throws `conflict`, which names the volume, the stack and the ways out.
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

/** The engine's names of the volumes that a model creates, without `external` ones. */
export function volumeNames(model: ComposeModel): string[] {
  return ownVolumes(model).map(({ name }) => name);
}

function ownVolumes(model: ComposeModel) {
  return resourcesOf(model, "volumes").filter(({ external }) => !external);
}

/**
 * The stack (or compose project) that a volume was made for, empty without labels, and the
 * repository it was deployed from. A volume without either is left to compose's warning.
 */
function makerOf(labels: Readonly<Record<string, string>>) {
  const ours = isOurs({ labels }) ? labels : {};
  return {
    stack: ours[LABELS.deployment] ?? labels[COMPOSE_LABELS.project] ?? "",
    repository: ours[LABELS.sourceName],
  };
}
