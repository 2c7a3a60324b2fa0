import {
  failuresByPlace,
  formatStackKey,
  type SourcePlace,
  type SourceRequest,
  type StackKey,
  stackKey,
} from "../model/mod.ts";
import { LEFT, nextFiring, UNPOLLED } from "../plan/mod.ts";
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

/** A source that the service asks by itself, as a text of the ledger. */
interface AskedSource extends SourcePlace {
  /** Whether its file is read. */
  readonly files: boolean;
  /** Formatted keys of the stacks that the poll's own deployments name; "" where they look for some. */
  readonly names: readonly string[];
}

/** What the service asks by itself, and whether it hears of pushes. */
interface Asked {
  readonly asked: readonly AskedSource[];
  readonly webhooks: boolean;
}

const ASKED = "asked sources";
/** End of the target of {@link discoveryOwner} for deployments of a poll. */
const OF_POLLS = "#polls";

/** Records which sources the service asks by itself, and whether webhooks have it ask others: for commands, too. */
export function noteAsked(
  service: Pick<Ledger["service"], "set">,
  { polls, webhookSecret }: Pick<Settings, "polls" | "webhookSecret">,
): void {
  const asked = polls.map(({ request }): AskedSource => {
    const { deployments, reference, target, withFiles: files = deployments.length === 0 } = request;
    const names = deployments.map(({ deployment: { name, context, autoDiscovery } }) =>
      autoDiscovery.enabled ? "" : formatStackKey(stackKey(context, name))
    );
    return { repository: nameOfSource(request), reference, target, files, names };
  });
  service.set(ASKED, JSON.stringify({ asked, webhooks: webhookSecret !== undefined }));
}

/** The name of a request's source; empty for a URL that leads to none. */
function nameOfSource(request: SourceRequest): string {
  try {
    return sourceNameOf(request);
  } catch {
    return "";
  }
}

/**
 * Finder of stacks whose source was polled and is no more, nor can a webhook have the service ask for them: no
 * commit changes these. By what the service has recorded at its start; it finds none where it did not. `place`
 * is where the stack's configuration was read.
 */
export function findUnpolled(
  { service, discovered, decisions }: Pick<Ledger, "service" | "discovered" | "decisions">,
): (key: StackKey, place: SourcePlace) => boolean {
  const recorded = service.get(ASKED);
  if (recorded === undefined) return () => false;
  const { asked, webhooks }: Asked = JSON.parse(recorded);
  return (key, place) => {
    const named = discovered.get(key)?.owner.target;
    const isOfFile = named !== undefined && !named.endsWith(OF_POLLS);
    if (isOfFile && webhooks) return false;
    const [name, wanted] = [formatStackKey(key), isOfFile ? named : place.target];
    const isAsked = asked.some(({ repository, reference, target, files, names }) =>
      repository === place.repository && target === wanted && mayBe(reference, place.reference) &&
      (isOfFile ? files : names.includes(name) || names.includes(""))
    );
    return !isAsked && decisions.lastAsked(key) === "poll";
  };
}

/** Whether a reference of a poll may be the one of a full name: it may be short, or lead to any. */
function mayBe(asked: string, full: string): boolean {
  const isAny = asked === "HEAD" || /^[0-9a-f]{40}$/i.test(asked);
  return isAny || [asked, `refs/heads/${asked}`, `refs/tags/${asked}`].includes(full);
}

/** A teller of why nothing happens to a stack by itself, whose configuration was read at a place. */
export function nothingNextOf(
  settings: Pick<Settings, "polls">,
  ledger: Parameters<typeof findUnpolled>[0],
): (key: StackKey, place: SourcePlace) => typeof LEFT | typeof UNPOLLED | undefined {
  const isUnpolled = findUnpolled(ledger);
  return (key, place) => {
    if (isUnpolled(key, place)) return UNPOLLED;
    return isPolledAtNoTime(settings, place) ? LEFT : undefined;
  };
}

/** Whether a source is polled at no time: what failed of it is not tried again by itself. */
function isPolledAtNoTime({ polls }: Pick<Settings, "polls">, place: SourcePlace): boolean {
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
