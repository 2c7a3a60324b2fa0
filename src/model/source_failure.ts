import type { Revision } from "./revision.ts";

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

/** The place that the configuration of a release was read from. */
export function placeOf({ configuration, revision, target }: {
  readonly configuration?: Revision;
  readonly revision: Revision;
  readonly target: string;
}): SourcePlace {
  const { source, reference } = configuration ?? revision;
  return { repository: source.name, reference, target };
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
