import type { ContainerDetails } from "../docker/engine.ts";

/** Number of restarts by the engine after which a watched container has failed. */
export const MOST_RESTARTS = 3;

interface RestartLook {
  /** Ids of containers that the engine restarted while they were watched. */
  readonly restarted: ReadonlySet<string>;
  /** The first container that was restarted {@link MOST_RESTARTS} times. */
  readonly looping: ContainerDetails | undefined;
}

/**
 * Follows the restarts of containers from look to look. A container that dies every two seconds is
 * running at most moments: only the engine's count of restarts shows it.
 */
export class RestartWatch {
  readonly #known: ReadonlySet<string> | undefined;
  /** The engine's count at the beginning, by container id. */
  readonly #first = new Map<string, number>();

  /** `known`: ids of containers that ran before, whose earlier restarts do not count; by default none counts. */
  constructor(known?: ReadonlySet<string>) {
    this.#known = known;
  }

  /**
   * Counts restarts since the beginning. What is not among those that this look has found (`there`) is
   * forgotten: an engine may tell of other containers at each look, for as long as a rollout may take.
   */
  look(
    containers: readonly ContainerDetails[],
    there: readonly ContainerDetails[] = containers,
  ): RestartLook {
    const found = new Set(there.map(({ container: { id } }) => id));
    for (const id of this.#first.keys()) if (!found.has(id)) this.#first.delete(id);
    const counted = containers.map((details) => ({ details, restarts: this.#restarts(details) }));
    return {
      restarted: new Set(
        counted.filter(({ restarts }) => restarts > 0).map(({ details }) => details.container.id),
      ),
      looping: counted.find(({ details, restarts }) =>
        restarts >= MOST_RESTARTS && details.container.state !== "exited"
      )?.details,
    };
  }

  /** Restarts since the beginning; a manual start resets the engine's count. */
  #restarts({ container: { id }, restartCount }: ContainerDetails): number {
    const isKnown = this.#known === undefined || this.#known.has(id);
    const first = Math.min(this.#first.get(id) ?? (isKnown ? restartCount : 0), restartCount);
    this.#first.set(id, first);
    return restartCount - first;
  }
}
