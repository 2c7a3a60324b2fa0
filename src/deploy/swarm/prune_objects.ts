import type { Engine } from "../../docker/engine.ts";
import { asList, asRecord, asText } from "../../docker/json.ts";
import type { ObjectKind, SwarmObject, SwarmService } from "../../docker/swarm.ts";
import { isOurs, LABELS } from "../../model/mod.ts";
import { containerSpec } from "./observed_services.ts";
import type { Retention } from "./stack_words.ts";
import { STACK_LABELS } from "./stack_parts.ts";

/**
 * The old revisions of configs or secrets that a stack no longer needs: of each, all but the newest
 * `retention`. Revisions that a service uses or used before its last update, and those in `needed`,
 * are kept in any case.
 */
export function prunable(
  objects: readonly SwarmObject[],
  { retention, used, needed }: {
    readonly retention: number;
    /** Ids of objects. */
    readonly used: ReadonlySet<string>;
    /** Names that the previous release needs. */
    readonly needed: ReadonlySet<string>;
  },
): SwarmObject[] {
  if (retention < 0) return [];
  const ours = objects.filter(({ labels }) =>
    isOurs({ labels }) && labels[LABELS.name] !== undefined
  );
  const groups = Map.groupBy(ours, ({ labels }) => labels[LABELS.name] ?? "");
  return [...groups.values()].flatMap((group) =>
    group.filter(({ id }) => !used.has(id)).sort((a, b) => b.version - a.version).slice(retention)
      .filter(({ name }) => !needed.has(name))
  );
}

/** Removes a stack's {@link prunable} objects. An object that is in use after all stays. */
export async function pruneObjects(
  { swarm }: Pick<Engine, "swarm">,
  { stack, retention, needed }: {
    readonly stack: string;
    readonly retention: Retention;
    readonly needed: ReadonlySet<string>;
  },
  signal: AbortSignal,
): Promise<void> {
  const label = { [STACK_LABELS.namespace]: stack };
  const services = await swarm.services(label, signal);
  for (const kind of ["configs", "secrets"] as const) {
    if (retention[kind] < 0) continue;
    const objects = await swarm.objects(kind, label, signal);
    const used = new Set(services.flatMap((service) => usedBy(service, kind)));
    for (const { id } of prunable(objects, { retention: retention[kind], used, needed })) {
      await swarm.removeObject(kind, id, signal);
    }
  }
}

/** Ids of objects that a service uses, or would use again after a rollback of its last update. */
function usedBy({ spec, previousSpec = {} }: SwarmService, kind: ObjectKind): string[] {
  const [list, id] = kind === "configs"
    ? ["Configs", "ConfigID"] as const
    : ["Secrets", "SecretID"] as const;
  return [spec, previousSpec].flatMap((each) =>
    asList(containerSpec(each)[list]).map((use) => asText(asRecord(use)[id]))
  );
}
