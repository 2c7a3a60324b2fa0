import { mayFill, resourcesOf, withKnownNames } from "../compose/mod.ts";
import {
  COMPOSE_LABELS,
  type ComposeModel,
  errors,
  isOurs,
  LABELS,
  type StackKey,
  type StackOwner,
} from "../model/mod.ts";
import { STACK_LABELS } from "./swarm/stack_parts.ts";
import { volumesThere } from "./volumes_there.ts";

interface VolumeFacts {
  readonly engine: Parameters<typeof volumesThere>[0];
  /** The source that owns a stack of this engine, as far as that is recorded. */
  readonly ownerOf: (stack: string) => string | undefined;
  /** Name of this node, where the stack is a swarm's, which evaluates templates in names. */
  readonly node: string | undefined;
}

/**
 * Refuses a model that defines a volume as its own which belongs to a stack of another source:
 * compose would only warn, and both stacks would write to the same data. A volume that is
 * `external` is shared on purpose, and stacks of one source may share. Naming the repository that a
 * volume was deployed from gives no right to it: anybody may deploy from that repository.
 *
 * Throws `conflict`, which names the volume, the stack and the ways out, and as
 * {@link volumesThere} does.
 */
export async function requireOwnVolumes(
  key: StackKey,
  model: ComposeModel,
  { engine, ownerOf, node }: VolumeFacts,
  claimant: StackOwner,
  signal: AbortSignal,
): Promise<void> {
  const isStack = node !== undefined;
  const known = (name: string) => isStack ? withKnownNames(name, { stack: key.name, node }) : name;
  const wanted = resourcesOf(model, "volumes").filter(({ external }) => !external)
    .map((each) => ({ key: each.key, name: known(each.name) }));
  for (const { key: at, name, fits } of await volumesThere(engine, wanted, isStack, signal)) {
    for (const { name: volume, labels } of fits) {
      const { stack, repository } = makerOf(labels);
      if (stack === "" || stack === key.name || !mayFill(name, volume)) continue;
      const owner = ownerOf(stack) ?? repository;
      if (owner === undefined || owner === claimant.source) continue;
      throw errors.conflict(
        `volumes.${at}: volume ${volume} is stack ${stack}'s, which runs from ${owner}, and was not ` +
          `mounted; give the volume another name, or say that it is shared on purpose: ` +
          `volumes.${at}.external: true`,
      );
    }
  }
}

/**
 * The stack (or compose project) that a volume was made for, empty without labels, and the
 * repository it was deployed from. A volume without either is left to compose's warning.
 */
function makerOf(labels: Readonly<Record<string, string>>) {
  const ours = isOurs({ labels }) ? labels : {};
  return {
    stack: ours[LABELS.deployment] ?? labels[COMPOSE_LABELS.project] ??
      labels[STACK_LABELS.namespace] ?? "",
    repository: ours[LABELS.sourceName],
  };
}
