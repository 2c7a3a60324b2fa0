/** One difference from what was asked of the engine: a change by hand. */
export interface Drift {
  readonly service: string;
  /** The container that differs; absent for drift of a service or a volume. */
  readonly container?: { readonly id: string; readonly name: string };
  /** The differing field, as a compose file calls it if it can: `mem_limit`, `network shop_db`. */
  readonly field: string;
  readonly wanted: string;
  readonly found: string;
}

/** What to do about drift: undo it, only report it, or not look for it. */
export const DRIFT_POLICIES = ["repair", "report", "ignore"] as const;

/** One member of {@link DRIFT_POLICIES}. */
export type DriftPolicy = (typeof DRIFT_POLICIES)[number];

/** Whether drift is a container that Stackwright did not make, of a service that its release does not have. */
export function isOrphan({ container, field }: Drift): boolean {
  return container !== undefined && field === "service";
}

/** Drift as one line for people: `container shop-web-1: mem_limit: 64 MiB instead of 128 MiB`. */
export function formatDrift(drift: Drift): string {
  const { service, container, field, wanted, found } = drift;
  if (isOrphan(drift)) {
    return `container ${container?.name} (service ${found}) is an orphan that was kept: Stackwright did not ` +
      "make it, and the next commit that changes the stack removes it, unless it has remove_orphans: false";
  }
  const what = container === undefined ? `service ${service}` : `container ${container.name}`;
  return `${what}: ${field}: ${found} instead of ${wanted}`;
}

/** Recorded drift of a stack. */
export interface FoundDrift {
  /** Number of differences; orphans that were kept are none. */
  readonly count: number;
  /** Differences that only inspecting containers shows. */
  readonly fields: readonly Drift[];
  /** Drift that a repair was made for, or that an adoption left; not tried again while it stays the same. */
  readonly tried: readonly Drift[];
  /** Ids of the swarm's verdicts on services that were reported already. */
  readonly verdicts?: readonly string[];
  /** Containers that the engine restarted lately. */
  readonly restarts?: readonly EngineRestarts[];
  /** Containers that became unhealthy lately and were left alone, since they had been restarted too often. */
  readonly leftAlone?: readonly LeftAlone[];
}

/** A container that became unhealthy and was left alone, with the last time in milliseconds since 1970. */
export interface LeftAlone {
  readonly id: string;
  readonly name: string;
  readonly at: number;
}

/** Milliseconds for which a container counts as left alone, and in which restarts by the engine count. */
export const UNWELL_MS = 600_000;

/** Restarts of one container by the engine, after its process ended. */
export interface EngineRestarts {
  readonly id: string;
  readonly name: string;
  /** When it was started again, in milliseconds since 1970. */
  readonly at: readonly number[];
  /** How its process ended, where a look saw that. */
  readonly exitCode?: number;
}

/** The record of a stack without drift. */
export const NO_DRIFT: FoundDrift = { count: 0, fields: [], tried: [] };
