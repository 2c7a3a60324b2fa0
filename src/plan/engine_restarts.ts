import { type EngineRestarts, type FoundDrift, UNWELL_MS } from "../model/mod.ts";

/** Restarts within {@link UNWELL_MS} that are too many, and how many to remember of each container. */
const MOST = 3;
const KEPT = 100;

/** A container that the engine starts again and again, with a sentence about that. */
export interface RestartLoop {
  readonly id: string;
  readonly said: string;
  /** Whether that has its exit code, which a look at a moment when it runs does not see. */
  readonly hasCode?: boolean;
}

/** The restarts to record after a look, with those recorded before that still count. */
export function withRestarts(
  before: readonly EngineRestarts[] = [],
  looked: readonly EngineRestarts[],
  now: Date,
): readonly EngineRestarts[] {
  return looked.flatMap(({ at, ...each }) => {
    const known = before.find(({ id }) => id === each.id);
    const all = [...new Set([...known?.at ?? [], ...at])].filter(within(now)).slice(-KEPT);
    return all.length === 0 ? [] : [{ ...known, ...each, at: all }];
  });
}

/**
 * The containers that do not run well for long, by what is recorded of a stack: restarted by the engine too often
 * lately, or left alone although they became unhealthy; those may be healthy at this moment.
 */
export function restartLoops(
  { restarts = [], leftAlone = [] }: Pick<FoundDrift, "restarts" | "leftAlone"> = {},
  now: Date,
): RestartLoop[] {
  const flapping = leftAlone.filter(({ at }) => within(now)(at)).map(({ id, name, at }) => {
    const ago = Math.round((now.getTime() - at) / 1000);
    return {
      id,
      said: `${name} became unhealthy ${ago} s ago, and is left alone after too many restarts`,
    };
  });
  const looping = restarts.flatMap(({ id, name, at, exitCode }) => {
    const recent = at.filter(within(now));
    if (recent.length < MOST) return [];
    const seconds = Math.round((now.getTime() - Math.max(...recent)) / 1000);
    const code = exitCode === undefined ? "" : `, exit ${exitCode}`;
    const said = `${name} was restarted by the engine ${recent.length} times in ` +
      `${UNWELL_MS / 60_000} minutes, last ${seconds} s ago${code}`;
    return [{ id, said, ...(exitCode === undefined ? {} : { hasCode: true }) }];
  });
  return [...looping, ...flapping];
}

function within(now: Date): (at: number) => boolean {
  return (at) => at > now.getTime() - UNWELL_MS;
}
