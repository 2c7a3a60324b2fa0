import { dirname } from "node:path";
import { hostPath, mountAround } from "../docker/own_mounts.ts";
import { type Files, procText, scratchPrefix } from "../system/mod.ts";
import { type DiskMounts, diskMounts, onDisk } from "../deploy/mod.ts";
import type { Engine } from "../docker/engine.ts";
import type { Host } from "./host.ts";
import type { PrepareOptions } from "./parts.ts";

/** Path of a volume's content, with the volume's name. */
const OWN_VOLUME = /\/volumes\/([^/]+)\/_data(?:\/|$)/;

/** Ports for finding our places, and where paths lead. */
export interface PlaceParts {
  readonly files: Pick<Files, "listAtMost" | "readIfExists" | "readLink" | "realPath" | "stat">;
  readonly host: Pick<Host, "own" | "dataDir" | "socket" | "isHere"> & {
    readonly engine: Pick<Engine, "everyVolume" | "findVolumes" | "inspectContainer">;
  };
  readonly options: Pick<PrepareOptions, "dataDir" | "protectedPaths">;
}

/** Places that no container may mount, as seen by the engine's machine. */
export interface OurPlaces {
  readonly paths: readonly string[];
  /** Directories with our temporary files, which may lie among those of others. */
  readonly scratch: readonly string[];
  /** Names of volumes. */
  readonly volumes: readonly string[];
  /** The mounts of that machine; empty if this process cannot see them. */
  readonly mounts: DiskMounts;
}

/**
 * The data directory and the files with our secrets: as configured, with links resolved, as mounted
 * into our container, and, on the host itself, as paths on their disks.
 */
export async function ourPlaces(
  { files, host, options }: PlaceParts,
  signal: AbortSignal,
): Promise<OurPlaces> {
  const own = await host.own(signal);
  const mounts = own?.mounts ?? [];
  const known = [host.dataDir, ...options.protectedPaths];
  // A path of another machine may be a link here, or be inaccessible.
  const real = await Promise.all(known.map((path) => files.realPath(path).catch(() => path)));
  const all = [...new Set([...known, ...real.map((path, at) => path ?? known[at] ?? "")])];
  const shown = mounts.filter(({ source }) => source !== "");
  const mounted = all.map((path) => mountAround(path, mounts)?.name ?? "");
  const kept = OWN_VOLUME.exec(host.dataDir)?.[1] ?? "";
  const volumes = [...new Set([...mounted, kept])].filter((name) => name !== "");
  // A volume may in turn stand for a directory or a disk of that machine.
  const found = volumes.length === 0 ? [] : await host.engine.findVolumes(volumes, signal);
  const devices = found.map(({ options }) => options?.["device"] ?? "")
    .filter((device) => device.startsWith("/"));
  const isHere = own === undefined && await host.isHere(signal);
  const seen = diskMounts(isHere ? await procText(files, "/proc/self/mountinfo") : "");
  const paths = all.flatMap((path) => [path, hostPath(path, shown) ?? path, onDisk(path, seen)]);
  const beside = dirname(scratchPrefix("plan"));
  const scratch = isHere
    ? [beside, await files.realPath(beside).catch(() => beside) ?? beside]
    : [];
  return { paths: [...new Set([...paths, ...devices])], scratch, volumes, mounts: seen };
}
