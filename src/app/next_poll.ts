import type { SourcePlace, SourceRequest } from "../model/mod.ts";
import { nextFiring } from "../plan/mod.ts";
import type { PollEntry } from "../config/mod.ts";
import type { Ledger } from "../record/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { fullReference, sourceKey, sourceNameOf } from "../source/mod.ts";

/** Records when the interval of a poll ends, for commands too: only the service knows. */
export function notePlanned(
  service: Pick<Ledger["service"], "set">,
  { request, intervalSeconds }: PollEntry,
  at: Date,
): void {
  const key = sourceKey(request);
  if (key !== undefined) service.set(nameOf(key, intervalSeconds), at.toISOString());
}

function nameOf(key: string, intervalSeconds: number): string {
  return `poll every ${intervalSeconds} s: ${key}`;
}

/** Whether a source is polled at no time: what failed of it is not tried again by itself. */
export function isPolledAtNoTime(
  { polls }: Pick<Settings, "polls">,
  { repository, reference }: Pick<SourcePlace, "repository" | "reference">,
): boolean {
  const own = polls.filter(({ request }) => {
    const { kind, reference: asked } = request;
    if (fullReference(kind, asked) !== reference) return false;
    try {
      return sourceNameOf(request) === repository;
    } catch {
      return false;
    }
  });
  const never = ({ schedule, intervalSeconds, runOnce }: PollEntry) =>
    runOnce || schedule === undefined && intervalSeconds <= 0;
  return own.length > 0 && own.every(never);
}

/**
 * Time of the next poll of a source after `now`, not before `held`; `undefined` without any. An interval
 * that began with an earlier poll ends when that was `planned`; after this one it begins anew.
 */
export function nextPoll(
  { polls, timeZone }: Pick<Settings, "polls" | "timeZone">,
  request: SourceRequest,
  { now, held = now, service }: {
    readonly now: Date;
    readonly held: Date | undefined;
    readonly service: Pick<Ledger["service"], "get">;
  },
): Date | undefined {
  const key = sourceKey(request);
  const times = polls
    .filter((each) => !each.runOnce && sourceKey(each.request) === key)
    .flatMap(({ schedule, intervalSeconds }) => {
      if (schedule !== undefined) return nextFiring(schedule, now, timeZone) ?? [];
      if (intervalSeconds <= 0) return [];
      const anew = now.getTime() + intervalSeconds * 1000;
      const planned = Date.parse(service.get(nameOf(key ?? "", intervalSeconds)) ?? "");
      return new Date(planned > now.getTime() && planned < anew ? planned : anew);
    })
    .map((each) => Math.max(each.getTime(), held.getTime()));
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}
