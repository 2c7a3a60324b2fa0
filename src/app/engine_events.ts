import { NEWS_ACTIONS, SharedEvents } from "../trigger/mod.ts";
import type { Engines } from "./engines.ts";
import type { System } from "./system.ts";

/** Returns the events of a context's engine, one stream for each, until the signal aborts. */
export function createEngineEvents(
  engines: Pick<Engines, "of">,
  { clock, log }: Pick<System, "clock" | "log">,
  signal: AbortSignal,
): (context: string) => SharedEvents {
  const made = new Map<string, SharedEvents>();
  const make = (context: string) =>
    new SharedEvents({
      async *events(since, within) {
        const { client } = await engines.of(context);
        // No filter by labels: events of services have none.
        const options = { labels: {}, withServices: true, actions: NEWS_ACTIONS, since };
        yield* client.containerEvents(options, within);
      },
      clock,
      log,
      random: Math.random,
    }, signal);
  return (context) => made.getOrInsertComputed(context, make);
}
