import type { EngineRestarts, FoundDrift } from "../model/mod.ts";

/** Milliseconds in which restarts count, how many are too many, and how many to remember of each container. */
const WINDOW_MS = 600_000;
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

/** The containers that were restarted too often lately, by what is recorded of a stack. */
export function restartLoops(
  { restarts = [] }: Pick<FoundDrift, "restarts"> = {},
  now: Date,
): RestartLoop[] {
  return restarts.flatMap(({ id, name, at, exitCode }) => {
    const recent = at.filter(within(now));
    if (recent.length < MOST) return [];
    const seconds = Math.round((now.getTime() - Math.max(...recent)) / 1000);
    const code = exitCode === undefined ? "" : `, exit ${exitCode}`;
    const said = `${name} was restarted by the engine ${recent.length} times in ` +
      `${WINDOW_MS / 60_000} minutes, last ${seconds} s ago${code}`;
    return [{ id, said, ...(exitCode === undefined ? {} : { hasCode: true }) }];
  });
}

function within(now: Date): (at: number) => boolean {
  return (at) => at > now.getTime() - WINDOW_MS;
}
