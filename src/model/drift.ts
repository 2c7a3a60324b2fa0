/** One thing that is not as it was asked of the engine: somebody changed it by hand. */
export interface Drift {
  readonly service: string;
  /** The container it is about; absent where it is about the service or a volume. */
  readonly container?: { readonly id: string; readonly name: string };
  /** What differs, in the words of a compose file where that has one: `mem_limit`, `network shop_db`. */
  readonly field: string;
  readonly wanted: string;
  readonly found: string;
}

/** Answers to drift: it is mended, only told, or not looked for. */
export const DRIFT_POLICIES = ["repair", "report", "ignore"] as const;

/** One member of {@link DRIFT_POLICIES}. */
export type DriftPolicy = (typeof DRIFT_POLICIES)[number];

/** Drift as one line for people: `container shop-web-1: mem_limit: 64 MiB instead of 128 MiB`. */
export function formatDrift({ service, container, field, wanted, found }: Drift): string {
  const what = container === undefined ? `service ${service}` : `container ${container.name}`;
  return `${what}: ${field}: ${found} instead of ${wanted}`;
}

/** Findings about a stack that somebody changed by hand. */
export interface FoundDrift {
  /** All of it, in lines. */
  readonly count: number;
  /** What only inspecting its containers shows. */
  readonly fields: readonly Drift[];
  /** What was replaced because of it, and is not tried again while it stays as it is. */
  readonly tried: readonly Drift[];
  /** Ids of what a swarm did to services by itself, and was told. */
  readonly verdicts?: readonly string[];
}

/** The findings about a stack that is as it was deployed. */
export const NO_DRIFT: FoundDrift = { count: 0, fields: [], tried: [] };
