import { isStackwrightError, utf8 } from "../../model/mod.ts";
import { requireSuccess } from "./git_result.ts";
import { isDamaged } from "./git_failure.ts";
import type { CommitPlace } from "./repository.ts";

/** Depths of history that are fetched, one after the other, until it tells; 0 is all of it. */
const DEPTHS = [2, 8, 32, 128, 0];
/** Answers that are remembered; of each stack one is asked again and again. */
const MOST_ANSWERS = 1024;

/** The answer to whether one commit comes before another; `unknown` when one cannot be had. */
export type IsAncestor = boolean | "unknown";

/** Tells which of two commits of one source comes first, also where little history was fetched. */
export class Ancestry {
  readonly #answers = new Map<string, IsAncestor>();

  /**
   * Whether `older` is an ancestor of `newer`, or the same. Where the history that is here does not
   * tell, more is fetched, step by step. Where not even the remote can tell, because the newer commit
   * is gone from it, the one that was committed first counts as the ancestor: who asks wants to know
   * whether something may be replaced by it, and must not take a doubt for a no.
   *
   * Throws when the signal is aborted, and for a damaged mirror.
   */
  async tell(older: CommitPlace, newer: CommitPlace, signal: AbortSignal): Promise<IsAncestor> {
    const key = `${older.commit} ${newer.commit} ${newer.repository.mirror.directory}`;
    const known = this.#answers.get(key) ?? await told(older, newer, signal);
    if (known !== undefined) return this.#remember(key, known);
    const gone = new Set<CommitPlace>();
    for (const depth of DEPTHS) {
      for (const each of [older, newer].filter((one) => !gone.has(one))) {
        const fetched = await fetchHistory(each, depth, signal);
        if (fetched === "away") return await guess(older, newer, signal);
        if (fetched === "missing") gone.add(each);
        const answer = await told(older, newer, signal);
        if (answer !== undefined) return this.#remember(key, answer);
      }
    }
    return this.#remember(key, await guess(older, newer, signal));
  }

  #remember(key: string, answer: IsAncestor): IsAncestor {
    this.#answers.set(key, answer);
    const oldest = this.#answers.keys().next().value;
    if (this.#answers.size > MOST_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
    return answer;
  }
}

/** The answer of the history that is here. */
async function told(
  older: CommitPlace,
  newer: CommitPlace,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  if (!await isHere(older, signal) || !await isHere(newer, signal)) return undefined;
  // History is no circle, so that either way round tells.
  if (await isClose(older.commit, newer, signal)) return true;
  if (await isClose(newer.commit, older, signal)) return false;
  if (await isBefore(newer.repository, older.commit, newer.commit, signal)) return true;
  if (await isBefore(newer.repository, newer.commit, older.commit, signal)) return false;
  return await newer.repository.mirror.hasWholeHistory(newer.commit, signal) ? false : undefined;
}

/** Commits that are looked at one by one, which costs less than a program that looks at them all. */
const MOST_CLOSE = 8;

/** True for a commit that is another one or among the few before that; no is no answer. */
async function isClose(
  wanted: string,
  { repository: { objects }, commit }: CommitPlace,
  signal: AbortSignal,
): Promise<boolean> {
  const seen = new Set([commit]);
  for (const each of seen) {
    if (each === wanted) return true;
    if (seen.size > MOST_CLOSE) continue;
    const object = await objects.read(`${each}^{commit}`, signal);
    const [header = ""] = utf8(object?.data).split("\n\n", 1);
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
  return await repository.objects.read(`${commit}^{commit}`, signal) !== undefined;
}

/** The outcome of a fetch: it is here, or not to be had, or nobody could be asked. */
async function fetchHistory(
  { repository, url, commit }: CommitPlace,
  depth: number,
  signal: AbortSignal,
): Promise<"here" | "missing" | "away"> {
  try {
    await repository.mirror.fetchCommit(url, commit, depth, signal);
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

/** Seconds of the epoch. */
async function committedAt(
  { repository, commit }: CommitPlace,
  signal: AbortSignal,
): Promise<number | undefined> {
  const object = await repository.objects.read(`${commit}^{commit}`, signal);
  const [header = ""] = utf8(object?.data).split("\n\n", 1);
  const time = /^committer .*> (\d+) [+-]\d{4}$/m.exec(header)?.[1];
  return time === undefined ? undefined : Number(time);
}
