import type { PollEntry } from "../config/mod.ts";
import { isStackwrightError } from "../model/mod.ts";
import { LONGEST_SPREAD, type PollParts } from "./poll_parts.ts";
import { type Entries, RepositoryPolls } from "./repository_polls.ts";

/** Most repositories whose polls all start at once; the starts of more are spread. */
const MOST_AT_ONCE = 8;

/**
 * Polls every entry until `signal` aborts or no entry is due any more; never rejects. Entries of one
 * repository are polled together where their times allow it, see {@link RepositoryPolls}. Call it
 * once.
 */
export async function runPolls(
  entries: readonly PollEntry[],
  parts: PollParts,
  signal: AbortSignal,
): Promise<void> {
  const repositories = byRepository(entries, parts);
  const isSpread = repositories.length > MOST_AT_ONCE;
  const loops = repositories.map(async (each) => {
    const intervals = each.map(({ intervalSeconds }) => intervalSeconds).filter((one) => one > 0);
    const most = isSpread && intervals.length > 0 ? Math.min(LONGEST_SPREAD, ...intervals) : 0;
    try {
      await new RepositoryPolls(each, parts, signal).run(most * parts.random());
    } catch (error) {
      if (signal.aborted || isStackwrightError(error, "shutting_down")) return;
      parts.log.error("BUG: polls ended", { error, target: each[0].request.target });
    }
  });
  await Promise.all(loops);
}

/** Groups entries by repository. A watched entry stays alone: its polls ask no remote. */
function byRepository(entries: readonly PollEntry[], { look }: PollParts): Entries[] {
  const found = new Map<string, [PollEntry, ...PollEntry[]]>();
  for (const [index, entry] of entries.entries()) {
    const { request: { kind, url }, watch } = entry;
    const isWatched = watch && look?.(entry.request) !== undefined;
    const key = isWatched ? `${index}` : JSON.stringify([kind, url]);
    const others = found.get(key);
    if (others === undefined) found.set(key, [entry]);
    else others.push(entry);
  }
  return [...found.values()];
}
