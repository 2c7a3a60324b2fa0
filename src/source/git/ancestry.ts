import { isStackwrightError, utf8 } from "../../model/mod.ts";
import { keepLatest } from "../../system/mod.ts";
import { requireSuccess } from "./git_result.ts";
import { isDamaged } from "./git_failure.ts";
import { LARGEST } from "./object_reader.ts";
import type { CommitPlace } from "./repository.ts";

/** Depths of history to fetch, in this order, until one suffices; 0 is the whole history. */
const DEPTHS = [2, 8, 32, 128, 0];
/** Size of the cache of answers: every stack asks the same question again and again. */
const MOST_ANSWERS = 1024;

/** Whether one commit comes before another; `unknown` when one of them cannot be fetched. */
export type IsAncestor = boolean | "unknown";

/** Tells which of two commits of one source comes first, even in a shallow mirror. */
export class Ancestry {
  readonly #answers = new Map<string, IsAncestor>();

  /**
   * Whether `older` is an ancestor of `newer`, or the same commit. Fetches more history step by step
   * when the mirror has too little. When the remote no longer has a commit or cannot be reached, the
   * commit with the earlier committer time counts as the ancestor: callers ask whether `newer` may
   * replace `older`, and a doubt must not block that.
   *
   * Throws when the signal is aborted, and for a damaged mirror.
   */
  async tell(older: CommitPlace, newer: CommitPlace, signal: AbortSignal): Promise<IsAncestor> {
    const key = `${older.commit} ${newer.commit} ${newer.repository.mirror.directory}`;
    const known = this.#answers.get(key) ?? await told(older, newer, signal);
    const remember = (answer: IsAncestor) => keepLatest(this.#answers, MOST_ANSWERS, key, answer);
    if (known !== undefined) return remember(known);
    const gone = new Set<CommitPlace>();
    for (const depth of DEPTHS) {
      for (const each of [older, newer].filter((one) => !gone.has(one))) {
        const fetched = await fetchHistory(each, depth, signal);
        if (fetched === "away") return await guess(older, newer, signal);
        if (fetched === "missing") gone.add(each);
        const answer = await told(older, newer, signal);
        if (answer !== undefined) return remember(answer);
      }
    }
    return remember(await guess(older, newer, signal));
  }
}

/** The answer from the history in the mirror; `undefined` when the mirror has too little of it. */
async function told(older: CommitPlace, newer: CommitPlace, signal: AbortSignal) {
  if (!await isHere(older, signal) || !await isHere(newer, signal)) return undefined;
  // History has no cycles, so `newer` being an ancestor of `older` rules out the reverse.
  if (await isClose(older.commit, newer, signal)) return true;
  if (await isClose(newer.commit, older, signal)) return false;
  if (await isBefore(newer.repository, older.commit, newer.commit, signal)) return true;
  if (await isBefore(newer.repository, newer.commit, older.commit, signal)) return false;
  return await newer.repository.mirror.hasWholeHistory(newer.commit, signal) ? false : undefined;
}

/** Commits that are read one by one before a `git merge-base` process, which costs more, is started. */
const MOST_CLOSE = 8;
/** Bytes of a commit that are looked at for its parents: a server may send one with thousands of them. */
const HEADER_BYTES = 4096;

/** True when `wanted` is `commit` or one of its nearest ancestors; false proves nothing. */
async function isClose(
  wanted: string,
  { repository, commit }: Pick<CommitPlace, "repository" | "commit">,
  signal: AbortSignal,
): Promise<boolean> {
  const seen = new Set([commit]);
  for (const each of seen) {
    if (each === wanted) return true;
    if (seen.size > MOST_CLOSE) continue;
    const header = await headerOf({ repository, commit: each }, HEADER_BYTES, signal);
    for (const [, parent = ""] of header.matchAll(/^parent ([0-9a-f]{40})$/gm)) seen.add(parent);
  }
  return false;
}

async function isBefore(
  { mirror }: CommitPlace["repository"],
  older: string,
  newer: string,
  signal: AbortSignal,
): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", older, newer];
  const result = await mirror.run({ args }, signal);
  if (result.code > 1) requireSuccess(result, "comparing histories");
  return result.code === 0;
}

async function isHere({ repository, commit }: CommitPlace, signal: AbortSignal): Promise<boolean> {
  return await repository.objects.commit(commit, signal) !== undefined;
}

/** Outcome of a fetch: the history is here, the remote lacks the commit, or the fetch failed. */
async function fetchHistory(
  { repository, url, commit }: CommitPlace,
  depth: number,
  signal: AbortSignal,
): Promise<"here" | "missing" | "away"> {
  try {
    await repository.mirror.fetchCommit({ url, name: commit, depth }, signal);
    return "here";
  } catch (error) {
    signal.throwIfAborted();
    if (isDamaged(error)) throw error;
    return isStackwrightError(error, "reference_not_found") ? "missing" : "away";
  }
}

async function guess(
  older: CommitPlace,
  newer: CommitPlace,
  signal: AbortSignal,
): Promise<IsAncestor> {
  const [first, second] = [await committedAt(older, signal), await committedAt(newer, signal)];
  return first === undefined || second === undefined ? "unknown" : first <= second;
}

/** What the first bytes of a commit have before its message; empty where it is missing or too large. */
async function headerOf(
  { repository: { objects }, commit }: Pick<CommitPlace, "repository" | "commit">,
  bytes: number,
  signal: AbortSignal,
): Promise<string> {
  const info = await objects.commit(commit, signal);
  if (info === undefined || info.size > LARGEST.commit) return "";
  const { data } = await objects.contents(info, signal);
  return utf8(data.subarray(0, bytes)).split("\n\n", 1)[0] ?? "";
}

/** Committer time in seconds since 1970. */
async function committedAt(place: CommitPlace, signal: AbortSignal) {
  const header = await headerOf(place, LARGEST.commit, signal);
  const time = /^committer .*> (\d+) [+-]\d{4}$/m.exec(header)?.[1];
  return time === undefined ? undefined : Number(time);
}
