import type { Engine } from "../../docker/engine.ts";
import { asRecord, asTextList } from "../../docker/json.ts";
import type { SwarmService, SwarmTask } from "../../docker/swarm.ts";
import { containerSpec, imageOf } from "./observed_services.ts";

/** How many times as long as its start took a task has to run. */
const STARTS = 2;
/** Milliseconds that a task has to run at most: somebody waits for that. */
const LONGEST_MS = 20_000;

/** Milliseconds since 1970 from which on a task was seen to run, and for which it has to. */
interface Ran {
  readonly since: number;
  readonly wantedMs: number;
}

/**
 * Follows tasks from look to look until each has run for long enough to be believed. What holds an engine up
 * when a container starts holds it up when one ends: it goes on to say for seconds that a task runs which
 * has ended, mostly for less time than the start took, at times for twice as long. Where nothing holds it up
 * a start takes less than what lies between two looks.
 *
 * A health check makes a start as long as it likes, and proves a task by itself. So does one of an image,
 * which nobody can tell of where the image is only on other nodes.
 */
export class TaskProofs {
  readonly #engine: Pick<Engine, "imageDefaults">;
  /** What the last look has found: time at which tasks began to start, by their nodes' clocks. */
  #starting: ReadonlyMap<string, number> = new Map();
  /** What was seen of each task that runs. */
  #running: ReadonlyMap<string, Ran> = new Map();

  constructor(engine: Pick<Engine, "imageDefaults">) {
    this.#engine = engine;
  }

  /**
   * Notes what a look has found that ended at `now`. What it has not found is forgotten: an engine may tell of
   * other tasks at each look, for as long as a rollout may take.
   */
  note(tasks: readonly SwarmTask[], now: Date): void {
    const starting = new Map<string, number>();
    const running = new Map<string, Ran>();
    for (const { id, state, stateSince } of tasks) {
      if (state === "starting") starting.set(id, stateSince.getTime());
      if (state !== "running") continue;
      const began = this.#starting.get(id) ?? stateSince.getTime();
      const wantedMs = Math.min(LONGEST_MS, STARTS * (stateSince.getTime() - began));
      running.set(id, this.#running.get(id) ?? { since: now.getTime(), wantedMs });
    }
    [this.#starting, this.#running] = [starting, running];
  }

  /** Whether tasks of a service had run for long enough when a look at them began. */
  async areProven(
    service: Pick<SwarmService, "spec">,
    tasks: readonly SwarmTask[],
    from: Date,
    signal: AbortSignal,
  ): Promise<boolean> {
    const isShort = tasks.some(({ id, state }) => {
      const seen = this.#running.get(id);
      return state === "running" && seen && from.getTime() - seen.since < seen.wantedMs;
    });
    if (!isShort) return true;
    const [test] = asTextList(asRecord(containerSpec(service.spec)["Healthcheck"])["Test"]);
    if (test !== undefined) return test !== "NONE";
    const image = await this.#engine.imageDefaults(imageOf(service), signal);
    return image?.checksHealth !== false;
  }
}
