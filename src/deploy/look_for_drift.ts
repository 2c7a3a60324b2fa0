import type { ContainerDetails, Engine } from "../docker/engine.ts";
import type {
  ComposeModel,
  Drift,
  EngineRestarts,
  ObservedStack,
  ReleaseService,
} from "../model/mod.ts";
import { fieldDrift, mountedVolumes } from "./engine/field_drift.ts";
import { numberOf } from "./engine/make_containers.ts";
import { withPlainDollars } from "./engine/plain_dollars.ts";
import { fewAtOnce } from "./few_at_once.ts";

/** What inspecting the containers of a stack shows. */
interface LookedAt {
  readonly fields: Drift[];
  /** The last restart of each container that the engine restarted. */
  readonly restarts: readonly EngineRestarts[];
}

/**
 * Drift of a stack from its release that shows only when its containers are inspected, see
 * {@link fieldDrift}, and missing volumes; and what the engine restarted. A container that vanishes
 * meanwhile has neither.
 */
export async function lookForDrift(
  engine: Pick<Engine, "inspectContainer" | "findVolumes">,
  { model: rendered, services }: {
    readonly model: ComposeModel;
    readonly services: readonly ReleaseService[];
  },
  { containers }: ObservedStack,
  signal: AbortSignal,
): Promise<LookedAt> {
  const model = withPlainDollars(rendered);
  const own = containers.filter((each) => services.some(({ name }) => name === each.service));
  const restarts: EngineRestarts[] = [];
  const drift = await fewAtOnce(own, async (each) => {
    const details = await engine.inspectContainer(each.id, signal);
    if (details === undefined) return [];
    restarts.push(...restartOf(details));
    return fieldDrift(model, details, numberOf(each));
  });
  const found: Drift[] = drift.flat();
  // The engine refuses to remove a volume of a container, so only services without one are checked.
  const bare = services.filter(({ name, expectation }) =>
    expectation.replicas > 0 && !containers.some((each) => each.service === name)
  );
  const wanted = bare.flatMap(({ name }) =>
    mountedVolumes(model, name).map((volume) => ({ name, volume }))
  );
  if (wanted.length === 0) return { fields: found, restarts };
  const existing = await engine.findVolumes(wanted.map(({ volume }) => volume), signal);
  const there = new Set(existing.map(({ name }) => name));
  const gone = wanted.filter(({ volume }) => !there.has(volume));
  const lost = gone.map(({ name, volume }) => ({
    ...{ service: name, field: `volume ${volume}` },
    ...{ wanted: "there", found: "none" },
  }));
  return { fields: [...found, ...lost], restarts };
}

/** The last start of a container, if the engine made it after the container's process had ended. */
function restartOf({ container, restartCount, startedAt }: ContainerDetails): EngineRestarts[] {
  if (restartCount === 0 || startedAt === undefined) return [];
  const { id, name, exitCode } = container;
  const ended = exitCode === undefined ? {} : { exitCode };
  return [{ id, name, at: [startedAt.getTime()], ...ended }];
}
