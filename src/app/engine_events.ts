import { NEWS_ACTIONS, SharedEvents } from "../trigger/mod.ts";
import type { Engines } from "./engines.ts";
import type { System } from "./system.ts";

/** The events of the engines of all contexts, each followed by one stream until the signal aborts. */
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
        // Events of services have no labels.
        const options = { labels: {}, withServices: true, actions: NEWS_ACTIONS, since };
        yield* client.containerEvents(options, within);
      },
      clock,
      log,
      random: Math.random,
    }, signal);
  return (context) => {
    const events = made.get(context) ?? make(context);
    made.set(context, events);
    return events;
  };
}
