/** Characters of what is new of an owner and remembered; one with more is not forgotten. */
const MOST = 4 << 20;

/** Owners that are forgotten in one go of the process: whoever removes thousands keeps nobody waiting. */
const MOST_AT_ONCE = 100;

/** What is new of an owner since it was to be forgotten. */
interface Pending {
  /** Number of the last work that had begun by then. */
  readonly last: number;
  /** Notes to make again, by a text that tells them apart. */
  readonly notes: Map<string, () => void>;
  size: number;
}

/** Forgetting of owners once the work is over that was under way: its texts may still be about them. */
export class LateForgetting {
  readonly #forget: (owner: string) => readonly string[];
  /** Works under way by their numbers, in their order: the only owner that each is about, if any. */
  readonly #works = new Map<number, string | undefined>();
  /** Owners to forget, in their order. */
  readonly #owners = new Map<string, Pending>();
  #last = 0;
  /** Whether the rest of what is due is forgotten after a pause. */
  #pauses = false;

  /** `forget` returns owners to forget after this one: later work may be about them. */
  constructor(forget: (owner: string) => readonly string[]) {
    this.#forget = forget;
  }

  /** Notes that work begins, which is about all owners, or only about one; the returned function ends it. */
  begin(about?: string): () => void {
    const work = ++this.#last;
    this.#works.set(work, about);
    return () => {
      this.#works.delete(work);
      this.#forgetDue();
    };
  }

  /** Forgets an owner when all work is over that has begun by now and may be about it; at once where there is none. */
  forget(owner: string): void {
    this.#await(owner);
    this.#forgetDue();
  }

  #await(owner: string): void {
    this.#owners.delete(owner);
    this.#owners.set(owner, { last: this.#last, notes: new Map(), size: 0 });
  }

  /** Makes a note of an owner, now and, where that is to be forgotten, once it is. */
  note(owner: string, text: string, make: () => void): void {
    make();
    const pending = this.#owners.get(owner);
    if (pending === undefined) return;
    if (!pending.notes.delete(text)) pending.size += text.length;
    pending.notes.set(text, make);
    if (pending.size > MOST) this.#owners.delete(owner);
  }

  #forgetDue(): void {
    if (this.#pauses) return;
    const oldest = new Map<string | undefined, number>();
    for (const [work, about] of this.#works) if (!oldest.has(about)) oldest.set(about, work);
    const isBefore = (last: number, about?: string) => last < (oldest.get(about) ?? Infinity);
    let left = MOST_AT_ONCE;
    for (const [owner, { last, notes }] of this.#owners) {
      if (!isBefore(last)) return;
      if (!isBefore(last, owner)) continue;
      if (left-- === 0) return this.#goOnLater();
      this.#owners.delete(owner);
      const further = this.#forget(owner);
      for (const make of notes.values()) make();
      for (const each of further) this.#await(each);
    }
  }

  #goOnLater(): void {
    this.#pauses = true;
    setTimeout(() => {
      this.#pauses = false;
      this.#forgetDue();
    }, 0);
  }
}
