import { createHash } from "node:crypto";
import type { PollRound, Revision } from "../model/mod.ts";
import { keepLatest } from "../system/mod.ts";
import type { ResolveRequest, Source } from "./source.ts";

/** References of sources of which the newest commit is remembered. */
const MOST = 10_000;

/**
 * The commits that references were last asked to name, in the order of the questions: a run that waited finds here
 * that another one has looked since. By a source's name, so that its URLs count as one. Of this process alone: no
 * run is older than it, and what another process found is told by what that one has deployed.
 */
export class NewestCommits {
  readonly #newest = new Map<string, { readonly id: string; readonly asked: number }>();
  /** When the first question of a round was asked, whose answer serves all of it. */
  readonly #rounds = new WeakMap<PollRound, number>();
  #questions = 0;

  /** The source, of whose answers note is taken. */
  noting(source: Source): Source {
    return { ...source, resolve: (request, signal) => this.#resolve(source, request, signal) };
  }

  /** Those of the revisions instead of which a later question was answered with another commit. */
  overtaken(looked: readonly Revision[]): Revision[] {
    return [...new Set(looked)].filter((each) => {
      const newest = this.#newest.get(nameOf(each));
      return newest !== undefined && newest.id !== each.id;
    });
  }

  async #resolve(source: Source, request: ResolveRequest, signal: AbortSignal): Promise<Revision> {
    const { round } = request;
    const now = ++this.#questions;
    const asked = round === undefined ? now : this.#rounds.getOrInsertComputed(round, () => now);
    const found = await source.resolve(request, signal);
    const name = nameOf(found);
    const known = this.#newest.get(name);
    // An answer may come after that to a later question.
    if (known !== undefined && known.asked > asked) return found;
    keepLatest(this.#newest, MOST, name, { id: found.id, asked });
    return found;
  }
}

/** Short, as both names may have thousands of characters. */
function nameOf({ source, reference }: Revision): string {
  return createHash("sha256").update(`${source.name} ${reference}`).digest("hex");
}
