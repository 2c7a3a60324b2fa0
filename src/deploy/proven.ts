import type { ContainerDetails } from "../docker/engine.ts";
import type { Alarm, Looks } from "./looks.ts";

/** Milliseconds to run after a restart by the engine, which itself regards a container as stable then. */
export const STEADY_MS = 10_000;

/** Rules by which containers prove that they work. */
interface Proofs {
  /** Milliseconds that a container of a service without a health check must run. */
  readonly watchMs: (service: string) => number;
  /** Whether a container's health status is current, not from before the release. */
  readonly believes: (details: ContainerDetails) => boolean;
}

/**
 * Follows containers from look to look until each has proven that it works: by its health check, by
 * finishing successfully, or by running long enough. A new start of a container begins anew.
 */
export class ProvenWatch {
  readonly #proofs: Proofs;
  readonly #looks: Pick<Looks, "alarm">;
  /** Alarms by container id and start time, for when that container has run long enough. */
  #alarms: ReadonlyMap<string, Alarm> = new Map();

  constructor(proofs: Proofs, looks: Pick<Looks, "alarm">) {
    this.#proofs = proofs;
    this.#looks = looks;
  }

  /** Whether every container has proven that it works; `restarted` are container ids. */
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

  /** Whether a container proves by itself that it works: by its health check, or by a good end. */
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
