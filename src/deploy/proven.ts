import type { ContainerDetails } from "../docker/engine.ts";
import type { Alarm, Looks } from "./looks.ts";

/**
 * Milliseconds that a container has to run which the engine had to restart: as long as the engine itself
 * takes to call one steady.
 */
const STEADY_MS = 10_000;

/** Proofs that containers which run have to give. */
interface Proofs {
  /** Milliseconds for which a container of a service has to run where no health check speaks for it. */
  readonly watchMs: (service: string) => number;
  /** Whether what the health check of a container says is about now. */
  readonly believes: (details: ContainerDetails) => boolean;
}

/**
 * Follows containers from look to look, each until it has proven that it works: by its health check,
 * by having done its work, or by running on. One that is started anew begins anew.
 */
export class ProvenWatch {
  readonly #proofs: Proofs;
  readonly #looks: Pick<Looks, "alarm">;
  /** Of each start of a container that runs well: when it will have run for long enough. */
  #alarms: ReadonlyMap<string, Alarm> = new Map();

  constructor(proofs: Proofs, looks: Pick<Looks, "alarm">) {
    this.#proofs = proofs;
    this.#looks = looks;
  }

  /** Whether every one of the containers has proven that it works; `restarted` are ids. */
  look(containers: readonly ContainerDetails[], restarted: ReadonlySet<string>): boolean {
    const watched = containers.filter((each) => !this.#speaks(each, restarted));
    const before = this.#alarms;
    this.#alarms = new Map(
      watched.filter(runsWell).map(({ container: { id, service }, startedAt }) => {
        const start = `${id} ${startedAt?.getTime() ?? 0}`;
        const watchMs = this.#proofs.watchMs(service);
        const milliseconds = restarted.has(id) ? Math.max(watchMs, STEADY_MS) : watchMs;
        return [start, before.get(start) ?? this.#looks.alarm(milliseconds)];
      }),
    );
    for (const [start, alarm] of before) if (!this.#alarms.has(start)) alarm.stop();
    return this.#alarms.size === watched.length &&
      [...this.#alarms.values()].every(({ isOver }) => isOver);
  }

  /** Whether a container tells by itself that it works, or has ended well. */
  #speaks(details: ContainerDetails, restarted: ReadonlySet<string>): boolean {
    const { id, state, health, exitCode } = details.container;
    if (state === "exited") return exitCode === 0;
    return state === "running" && health === "healthy" && !restarted.has(id) &&
      this.#proofs.believes(details);
  }
}

function runsWell({ container: { state, health } }: ContainerDetails): boolean {
  return state === "running" && (health === "none" || health === "healthy");
}
