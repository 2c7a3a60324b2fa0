import type { ContainerDetails } from "../docker/engine.ts";

/**
 * Restarts by the engine, while a release is watched, that make a container one that cannot run.
 */
export const MOST_RESTARTS = 3;

/** The result of one look at containers. */
export interface RestartLook {
  /** Whether each container is the one of the look before, and has run since without an end. */
  readonly same: boolean;
  /** Whether one that runs now was restarted by the engine while it was watched. */
  readonly restarted: boolean;
  /** The first that was restarted {@link MOST_RESTARTS} times. */
  readonly looping: ContainerDetails | undefined;
}

/**
 * Follows containers from look to look. A container that dies every two seconds is running at most
 * moments: only its start time and the engine's count of restarts tell.
 */
export class RestartWatch {
  readonly #known: ReadonlySet<string> | undefined;
  /** The engine's count at the beginning, by container id. */
  readonly #first = new Map<string, number>();
  #before: string | undefined;

  /**
   * `known` are ids of containers that ran before, whose earlier restarts do not count; without it,
   * those of none count.
   */
  constructor(known?: ReadonlySet<string>) {
    this.#known = known;
  }

  /** Compares what is now with the look before. */
  look(containers: readonly ContainerDetails[]): RestartLook {
    const now = containers.map(({ container, startedAt }) =>
      `${container.id} ${startedAt?.getTime() ?? 0}`
    ).sort().join("\n");
    const same = this.#before === undefined || this.#before === now;
    this.#before = now;
    const counted = containers.map((details) => ({ details, restarts: this.#restarts(details) }));
    return {
      same,
      restarted: counted.some(({ details, restarts }) =>
        restarts > 0 && details.container.state === "running"
      ),
      looping: counted.find(({ details, restarts }) =>
        restarts >= MOST_RESTARTS && details.container.state !== "exited"
      )?.details,
    };
  }

  /** Since the beginning; a start by hand sets the engine's count back. */
  #restarts({ container: { id }, restartCount }: ContainerDetails): number {
    const isKnown = this.#known === undefined || this.#known.has(id);
    const first = Math.min(this.#first.get(id) ?? (isKnown ? restartCount : 0), restartCount);
    this.#first.set(id, first);
    return restartCount - first;
  }
}
