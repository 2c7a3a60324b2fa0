import { join } from "node:path";
import { insideTree } from "../compose/mod.ts";
import type { Engine } from "../docker/engine.ts";
import type { Files } from "../system/mod.ts";
import { requireLiveInside } from "./live_inside.ts";

/** Ports for looking where mounts lead. */
interface MountParts {
  readonly engine: Pick<Engine, "findVolumes">;
  readonly files: Pick<Files, "realPath" | "stat">;
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
 * What is about to start counts, whatever release it was made from.
 *
 * Throws `path_escapes`, and what the engine throws.
 */
export async function requireMountsInside(
  { engine, files, dataDir, hostDataDir }: MountParts,
  mounts: readonly KnownMount[],
  signal: AbortSignal,
): Promise<void> {
  const names = mounts.flatMap(({ kind, name }) => kind === "volume" && name !== "" ? [name] : []);
  const volumes = names.length === 0 ? [] : await engine.findVolumes(names, signal);
  const devices = volumes.map(({ options }) => options?.["device"] ?? "");
  for (const source of [...mounts.map((each) => each.source), ...devices]) {
    const [context = "", name = "", kind, ...path] =
      insideTree(source, join(hostDataDir, "releases"))?.split("/") ?? [];
    if (kind !== "live") continue;
    const live = join(dataDir, "releases", context, name, kind);
    await requireLiveInside(files, live, [path.join("/") || "."]);
  }
}
