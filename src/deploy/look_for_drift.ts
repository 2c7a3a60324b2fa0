import type { Engine } from "../docker/engine.ts";
import type { ComposeModel, Drift, ObservedStack, ReleaseService } from "../model/mod.ts";
import { fieldDrift, mountedVolumes } from "./engine/field_drift.ts";
import { numberOf } from "./engine/make_containers.ts";
import { withPlainDollars } from "./engine/plain_dollars.ts";
import { fewAtOnce } from "./few_at_once.ts";

/**
 * Drift of a stack from its release that shows only when its containers are inspected, see
 * {@link fieldDrift}, and missing volumes. A container that vanishes meanwhile has no drift.
 */
export async function lookForDrift(
  engine: Pick<Engine, "inspectContainer" | "findVolumes">,
  { model: rendered, services }: {
    readonly model: ComposeModel;
    readonly services: readonly ReleaseService[];
  },
  { containers }: ObservedStack,
  signal: AbortSignal,
): Promise<Drift[]> {
  const model = withPlainDollars(rendered);
  const own = containers.filter((each) => services.some(({ name }) => name === each.service));
  const drift = await fewAtOnce(own, async (each) => {
    const details = await engine.inspectContainer(each.id, signal);
    return details === undefined ? [] : fieldDrift(model, details, numberOf(each));
  });
  const found: Drift[] = drift.flat();
  // The engine refuses to remove a volume of a container, so only services without one are checked.
  const bare = services.filter(({ name, expectation }) =>
    expectation.replicas > 0 && !containers.some((each) => each.service === name)
  );
  const wanted = bare.flatMap(({ name }) =>
    mountedVolumes(model, name).map((volume) => ({ name, volume }))
  );
  if (wanted.length === 0) return found;
  const existing = await engine.findVolumes(wanted.map(({ volume }) => volume), signal);
  const there = new Set(existing.map(({ name }) => name));
  const gone = wanted.filter(({ volume }) => !there.has(volume));
  return [
    ...found,
    ...gone.map(({ name, volume }) => ({
      ...{ service: name, field: `volume ${volume}` },
      ...{ wanted: "there", found: "none" },
    })),
  ];
}
