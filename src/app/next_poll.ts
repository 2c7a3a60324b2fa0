import { failuresByPlace, type SourcePlace, type SourceRequest } from "../model/mod.ts";
import { nextFiring } from "../plan/mod.ts";
import type { PollEntry } from "../config/mod.ts";
import type { Ledger } from "../record/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { sourceKey, sourceNameOf } from "../source/mod.ts";

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
export function isPolledAtNoTime({ polls }: Pick<Settings, "polls">, place: SourcePlace): boolean {
  const own = pollsOf(polls, place);
  const never = ({ schedule, intervalSeconds, runOnce }: PollEntry) =>
    runOnce || schedule === undefined && intervalSeconds <= 0;
  return own.length > 0 && own.every(never);
}

/** The polls of a place, or else of `HEAD`: settings do not tell which branch that is. */
function pollsOf(polls: Settings["polls"], place: SourcePlace): readonly PollEntry[] {
  const own = (reference: string) =>
    polls.filter(({ request }) => {
      try {
        const polled = { ...request, repository: sourceNameOf(request) };
        return failuresByPlace([polled])({ ...place, reference }) !== undefined;
      } catch {
        return false;
      }
    });
  const named = own(place.reference);
  return named.length > 0 ? named : own("HEAD");
}

/**
 * Time of the next poll of a place after `now`, not before its host wants polls again; `undefined` without
 * any. An interval that began with an earlier poll ends when that was planned; after this one it begins anew.
 */
export function nextPoll(
  { polls, timeZone }: Pick<Settings, "polls" | "timeZone">,
  place: SourcePlace,
  { now, heldUntil, service }: {
    readonly now: Date;
    readonly heldUntil: (request: SourceRequest) => Date | undefined;
    readonly service: Pick<Ledger["service"], "get">;
  },
): Date | undefined {
  const times = pollsOf(polls, place).filter(({ runOnce }) => !runOnce)
    .flatMap(({ request, schedule, intervalSeconds }) => {
      const held = heldUntil(request)?.getTime() ?? 0;
      if (schedule !== undefined) {
        const at = nextFiring(schedule, now, timeZone);
        return at === undefined ? [] : Math.max(at.getTime(), held);
      }
      if (intervalSeconds <= 0) return [];
      const anew = now.getTime() + intervalSeconds * 1000;
      const name = nameOf(sourceKey(request) ?? "", intervalSeconds);
      const planned = Date.parse(service.get(name) ?? "");
      return Math.max(planned > now.getTime() && planned < anew ? planned : anew, held);
    });
  return times.length === 0 ? undefined : new Date(Math.min(...times));
}
