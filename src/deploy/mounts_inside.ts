import type { Engine } from "../docker/engine.ts";
import type { Files } from "../system/mod.ts";
import { requireLiveInside } from "./live_inside.ts";
import { stackDirectories, stackPlaceOf } from "./stack_files.ts";
import { volumesThere } from "./volumes_there.ts";

/** Ports for looking where mounts lead. */
interface MountParts {
  readonly engine: Pick<Engine, "everyVolume" | "findVolumes">;
  readonly files: Pick<Files, "listAtMost" | "realPath" | "stat">;
  /** The data directory as this process sees it. */
  readonly dataDir: string;
  /** The data directory as the engine's host sees it. */
  readonly hostDataDir: string;
}

/** A mount of a container or a service as an engine has it. */
export interface KnownMount {
  /** `bind`, `volume` or another type. */
  readonly kind: string;
  /** Name of a volume. */
  readonly name: string;
  /** Path on the engine's host. */
  readonly source: string;
}

/**
 * Refuses mounts in `live` of a stack that lead elsewhere, by a link that a container put there since.
 * What is about to start counts, whatever release it was made from; templates of a swarm stand for all
 * that it may make of them.
 *
 * Throws `path_escapes`, and what the engine throws.
 */
export async function requireMountsInside(
  { engine, files, dataDir, hostDataDir }: MountParts,
  mounts: readonly KnownMount[],
  signal: AbortSignal,
): Promise<void> {
  const named = mounts.filter(({ kind, name }) => kind === "volume" && name !== "")
    .map(({ name }) => ({ key: name, name }));
  // Only names that a swarm evaluates can have templates.
  const volumes = await volumesThere(engine, named, true, signal);
  const devices = volumes.flatMap(({ fits }) =>
    fits.map(({ options }) => options?.["device"] ?? "")
  );
  const paths = new Map<string, string[]>();
  for (const source of [...mounts.map((each) => each.source), ...devices]) {
    const place = stackPlaceOf(hostDataDir, source);
    if (place?.kind !== "live") continue;
    const { live } = stackDirectories(dataDir, place.key);
    paths.set(live, [...paths.get(live) ?? [], place.path]);
  }
  for (const [live, below] of paths) await requireLiveInside(files, live, below);
}
