import { errors, fewOf } from "../model/mod.ts";
import { type Clock, keepLatest, withDeadline } from "../system/mod.ts";

/** Milliseconds between two looks at a pull, and looks without a word before that end it while a layer is fetched. */
const LOOK_MS = 30_000;
const SILENT_LOOKS = 4;
const SILENT_MINUTES = SILENT_LOOKS * LOOK_MS / 60_000;

/** Layers of one pull that are remembered, and of all that ended. */
const MOST_LAYERS = 10_000;
const MOST_LEFT = 1000;
/** Milliseconds for which a layer that waited when its pull ended is taken for one that still does. */
const LEFT_MS = 15 * 60_000;

/** How far a layer is that a pull has told of: fetched by the engine, waiting for its turn, or neither. */
export type LayerState = "fetched" | "waits" | "rests";

/** A line of compose about a layer, in the engine's words; a count of bytes may follow. */
const LAYER = /^\s*([0-9a-f]{12}) (?:(Pulling fs layer|Downloading|Retrying)|(Waiting)|)/;

/** What a line of a pull's progress tells of a layer; `undefined` for any other line. */
export function layerTold(line: string) {
  const [, id, fetched, waits] = LAYER.exec(line) ?? [];
  if (id === undefined) return undefined;
  const state: LayerState = fetched !== undefined
    ? "fetched"
    : waits !== undefined
    ? "waits"
    : "rests";
  return { id, state, isFirst: fetched?.startsWith("Pulling") === true };
}

/** One pull, which is listened to: an engine fetches only a few layers at once, for everybody. */
export class HeardPull {
  readonly #clock: Clock;
  readonly #left: Map<string, number>;
  readonly #layers = new Map<string, LayerState>();
  #silentLooks = 0;

  /**
   * `left` are the layers that waited when an earlier pull of the engine ended, and when that was. It forgets them
   * when it is their turn; until then, a pull that wants one again hears that it is fetched, and nothing more.
   */
  constructor(clock: Clock, left: Map<string, number>) {
    this.#clock = clock;
    this.#left = left;
  }

  /**
   * Runs the pull, which passes on each line of its progress, and ends it where nothing more comes of
   * layers that are fetched: they take the engine's places from all others. One that only waits for a
   * place is not ended. Throws `pull_failed`.
   */
  async run(
    doing: string,
    pull: (heard: (line: string) => void, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const later = () => {
      const isSilent = ++this.#silentLooks >= SILENT_LOOKS;
      return isSilent && this.#in("fetched").length > 0 ? 0 : LOOK_MS;
    };
    const late = () => silent(doing, this.#in("fetched"));
    const limit = { clock: this.#clock, milliseconds: LOOK_MS, late, later };
    try {
      await withDeadline(limit, (within) => pull((line) => this.#hear(line), within), signal);
    } finally {
      for (const id of this.#in("waits")) {
        // Not anew, or who asks again and again is never ended.
        const since = this.#left.get(id) ?? this.#clock.uptime();
        keepLatest(this.#left, MOST_LEFT, id, since);
      }
    }
  }

  /** What it waits for, to append to an error; empty where it does not only wait. */
  waitsFor(): string {
    const waiting = this.#in("waits");
    if (waiting.length === 0 || this.#in("fetched").length > 0) return "";
    return ". The engine fetches only a few layers at once for everybody (max-concurrent-downloads in " +
      `its daemon.json, otherwise 3), and others had all places: ${fewOf(waiting)} waited for one`;
  }

  #in(state: LayerState): string[] {
    return [...this.#layers].filter(([, each]) => each === state).map(([id]) => id);
  }

  #hear(line: string): void {
    this.#silentLooks = -1;
    const told = layerTold(line);
    if (told === undefined) return;
    const { id, state, isFirst } = told;
    const since = this.#left.get(id);
    const waits = isFirst && since !== undefined && this.#clock.uptime() - since < LEFT_MS;
    if (!waits) this.#left.delete(id);
    this.#layers.delete(id);
    if (state === "rests" || this.#layers.size === MOST_LAYERS) return;
    this.#layers.set(id, waits ? "waits" : state);
  }
}

function silent(doing: string, layers: readonly string[]) {
  return errors.pull_failed(
    `${doing} was ended: for ${SILENT_MINUTES} minutes nothing came of ${fewOf(layers)}. ` +
      "Nothing that runs was touched, and the engine's places for downloads (max-concurrent-downloads) " +
      "are free again for others, unless the registry took the requests and answered nothing: then " +
      "the engine keeps them until the registry ends the connections, or the engine is restarted. See " +
      "whether the engine reaches the registry; a later run tries again",
  );
}
