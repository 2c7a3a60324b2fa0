import type { SourceRequest } from "../model/mod.ts";
import { nextFiring } from "../plan/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { sourceKey } from "../source/mod.ts";

/** Time of the next poll of a source after `now`, not before `held`; `undefined` without any. */
export function nextPoll(
  { polls, timeZone }: Pick<Settings, "polls" | "timeZone">,
  request: SourceRequest,
  { now, held = now }: { readonly now: Date; readonly held: Date | undefined },
): Date | undefined {
  const key = sourceKey(request);
  const times = polls
    .filter((each) => !each.runOnce && sourceKey(each.request) === key)
    .flatMap(({ schedule, intervalSeconds }) => {
      if (schedule !== undefined) return nextFiring(schedule, now, timeZone) ?? [];
      return intervalSeconds > 0 ? new Date(now.getTime() + intervalSeconds * 1000) : [];
    })
    .map((each) => Math.max(each.getTime(), held.getTime()));
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}
