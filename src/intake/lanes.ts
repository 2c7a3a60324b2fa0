import { abortable } from "../system/mod.ts";

/** A slot in a lane. */
export interface LaneSlot {
  /** Resolves when no other item runs in the lane, or when `signal` aborts; callers check which. */
  turn(signal: AbortSignal): Promise<void>;
  /** Marks the item's work as begun: from then on nobody can join it. */
  begin(): void;
  /** Gives the slot up, so that the waiting item has its turn. May be called twice. */
  leave(): void;
}

/** Lanes by key: in each lane one item runs and at most one waits. */
export interface Lanes<Item> {
  /** The item that waits under `key`, or that has its turn and has not begun, if there is one. */
  waiting(key: string): Item | undefined;
  /**
   * Takes a slot under `key`, to run at once or to wait; no other item may be waiting. With
   * `lingers`, the item can be joined until it begins.
   */
  enter(key: string, item: Item, lingers?: boolean): LaneSlot;
}

interface Holder<Item> {
  readonly item: Item;
  readonly turn: PromiseWithResolvers<void>;
  begun: boolean;
}

interface Lane<Item> {
  running: Holder<Item>;
  waiting: Holder<Item> | undefined;
}

/** Makes empty lanes. A lane takes memory only while an item runs in it. */
export function createLanes<Item>(): Lanes<Item> {
  const lanes = new Map<string, Lane<Item>>();
  return {
    waiting(key) {
      const lane = lanes.get(key);
      if (lane === undefined) return undefined;
      return lane.waiting?.item ?? (lane.running.begun ? undefined : lane.running.item);
    },
    enter(key, item, lingers = false) {
      const holder = { item, turn: Promise.withResolvers<void>(), begun: !lingers };
      const lane = lanes.get(key);
      if (lane === undefined) {
        lanes.set(key, { running: holder, waiting: undefined });
        holder.turn.resolve();
      } else {
        if (lane.waiting !== undefined) throw new Error("BUG: two items would wait in one lane");
        lane.waiting = holder;
      }
      return {
        turn: (signal) => abortable(holder.turn.promise, signal).catch(() => {}),
        begin: () => void (holder.begun = true),
        leave: () => leave(lanes, key, holder),
      };
    },
  };
}

function leave<Item>(lanes: Map<string, Lane<Item>>, key: string, holder: Holder<Item>): void {
  const lane = lanes.get(key);
  if (lane?.waiting === holder) lane.waiting = undefined;
  if (lane?.running !== holder) return;
  if (lane.waiting === undefined) {
    lanes.delete(key);
    return;
  }
  lane.running = lane.waiting;
  lane.waiting = undefined;
  lane.running.turn.resolve();
}
