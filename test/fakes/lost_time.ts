const TICK_MS = 50;

/**
 * Time in which this process did nothing because its machine had none for it, or fell behind with what it
 * has to do: it is told by ticks that did not come. Its timer runs for as long as the process.
 */
export class LostTime {
  readonly #ticks: number[] = [];

  /** @param rememberedMs milliseconds after which ticks are forgotten. */
  constructor(rememberedMs: number) {
    setInterval(() => {
      this.#ticks.push(performance.now());
      if (this.#ticks.length > rememberedMs / TICK_MS) this.#ticks.shift();
    }, TICK_MS);
  }

  /** Whole milliseconds lost since a time of `performance.now()`; a tick's worth of them says nothing. */
  since(started: number): number {
    const came = this.#ticks.filter((tick) => tick >= started).length;
    return Math.max(0, Math.round(performance.now() - started - came * TICK_MS));
  }
}
