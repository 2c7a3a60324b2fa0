import { createHash } from "node:crypto";
import type { PollRound, Revision } from "../model/mod.ts";
import { type Clock, keepLatest } from "../system/mod.ts";
import type { ResolveRequest, Source } from "./source.ts";

/** References of sources of which the newest commit is remembered. */
const MOST = 10_000;

/** Commits that references were last found at by this process or others, by names of {@link NewestCommits}. */
export interface FoundCommits {
  get(name: string): { readonly id: string; readonly asked: Date } | undefined;
  /** Notes a commit, unless a later question was answered since. */
  note(name: string, id: string, asked: Date): void;
}

/** A question: its place among those of this process, and its time, which other processes know. */
interface Asked {
  readonly order: number;
  readonly at: Date;
}

/**
 * The commits that references were last asked to name, in the order of the questions: a run that waited finds here
 * that another one has looked since, of this process or, by `found`, another one. By a source's name, so that its
 * URLs count as one.
 */
export class NewestCommits {
  readonly #found: FoundCommits;
  readonly #clock: Pick<Clock, "now">;
  readonly #newest = new Map<string, { readonly id: string; readonly asked: Asked }>();
  /** The first question of a round, whose answer serves all of it. */
  readonly #rounds = new WeakMap<PollRound, Asked>();
  #questions = 0;

  constructor(found: FoundCommits, clock: Pick<Clock, "now">) {
    this.#found = found;
    this.#clock = clock;
  }

  /** The source, of whose answers note is taken. */
  noting(source: Source): Source {
    return { ...source, resolve: (request, signal) => this.#resolve(source, request, signal) };
  }

  /** Those of the revisions instead of which a later question was answered with another commit. */
  overtaken(looked: readonly Revision[]): Revision[] {
    return [...new Set(looked)].filter((each) => {
      const newest = this.#newestOf(nameOf(each));
      return newest !== undefined && newest !== each.id;
    });
  }

  /** The later one of the last answer of this process and the last that any had. */
  #newestOf(name: string): string | undefined {
    const [own, found] = [this.#newest.get(name), this.#found.get(name)];
    if (own === undefined || found === undefined) return (own ?? found)?.id;
    // A time that is still to come is of before a clock was set back.
    const isOver = own.asked.at > this.#clock.now();
    return isOver || found.asked > own.asked.at ? found.id : own.id;
  }

  async #resolve(source: Source, request: ResolveRequest, signal: AbortSignal): Promise<Revision> {
    const { round, location: { url, name: of } } = request;
    // A checkout under its origin's name says nothing of where that one's references are.
    const isCopy = /^\s*(?:\/|file:)/i.test(url) && !of.startsWith("local/");
    if (isCopy) return await source.resolve(request, signal);
    const now = { order: ++this.#questions, at: this.#clock.now() };
    const asked = round === undefined ? now : this.#rounds.getOrInsertComputed(round, () => now);
    const found = await source.resolve(request, signal);
    const name = nameOf(found);
    const known = this.#newest.get(name);
    // An answer may come after that to a later question.
    if (known !== undefined && known.asked.order > asked.order) return found;
    keepLatest(this.#newest, MOST, name, { id: found.id, asked });
    this.#found.note(name, found.id, asked.at);
    return found;
  }
}

/** Short, as both names may have thousands of characters. */
function nameOf({ source, reference }: Revision): string {
  return createHash("sha256").update(`${source.name} ${reference}`).digest("hex");
}
