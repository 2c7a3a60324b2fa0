import type { Revision } from "./revision.ts";
import type { StackOwner } from "./stack_owner.ts";

/** The place that configurations are read from. */
export interface SourcePlace {
  /** Name of the source: `host/owner/repo`. */
  readonly repository: string;
  readonly reference: string;
  /** Configuration target; empty for the default file. */
  readonly target: string;
}

/** A source that cannot be read; what is deployed from it stays as it is. */
export interface SourceFailure extends SourcePlace {
  /** When it was first found so, since it was last read. */
  readonly since: Date;
  /** When it was last tried. */
  readonly lastAt: Date;
  /** Why, without secrets. */
  readonly message: string;
  /** Time of the next poll, where it is polled. */
  readonly retryAt?: Date;
}

/**
 * The place that the configuration of a release was read from. The release tells, unless that is another
 * branch of the repository it is deployed from, whose file names this one by `reference`: then `asker` does,
 * in whose name its stack was named last.
 */
export function placeOf(
  { configuration, revision, target }: {
    readonly configuration?: Revision;
    readonly revision: Revision;
    readonly target: string;
  },
  asker?: StackOwner,
): SourcePlace {
  const { source, reference } = configuration ?? revision;
  const isAskers = configuration === undefined && asker?.source === source.name;
  const named = isAskers && asker.reference !== "" ? asker.reference : reference;
  return { repository: source.name, reference: named, target };
}

/** A look-up of failures by place; a release has the full name of the reference that was asked for. */
export function failuresByPlace<Failure extends SourcePlace>(
  failures: readonly Failure[],
): (place: SourcePlace) => Failure | undefined {
  const keyOf = ({ repository, reference, target }: SourcePlace) =>
    JSON.stringify([repository, reference, target]);
  const known = new Map(failures.flatMap((failure) => {
    const { reference } = failure;
    return [`refs/tags/${reference}`, `refs/heads/${reference}`, reference]
      .map((name) => [keyOf({ ...failure, reference: name }), failure] as const);
  }));
  return (place) => known.get(keyOf(place));
}

/** Milliseconds for which the failure of a source is told that nothing depends on. */
const IDLE_MS = 3600 * 1000;

/**
 * The failures that are worth telling at `now`: of what is polled, and of what a stack was deployed
 * from (`places`). Others are of webhooks, such as one of a wrong repository; nobody tries them
 * again, so they end after an hour.
 */
export function toldFailures<Failure extends SourceFailure>(
  failures: readonly Failure[],
  places: readonly SourcePlace[],
  now: Date,
): Failure[] {
  const failureAt = failuresByPlace(failures);
  const needed = new Set(places.map(failureAt));
  return failures.filter((each) =>
    each.retryAt !== undefined || needed.has(each) ||
    now.getTime() - each.lastAt.getTime() < IDLE_MS
  );
}
