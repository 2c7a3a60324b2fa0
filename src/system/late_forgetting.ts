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
  /** Numbers of the works under way, in their order. */
  readonly #works = new Set<number>();
  /** Owners to forget, in their order. */
  readonly #owners = new Map<string, Pending>();
  #last = 0;
  /** Whether the rest of what is due is forgotten after a pause. */
  #pauses = false;

  /** `forget` returns owners to forget after this one: later work may be about them. */
  constructor(forget: (owner: string) => readonly string[]) {
    this.#forget = forget;
  }

  /** Notes that work begins; the returned function ends it. */
  begin(): () => void {
    const work = ++this.#last;
    this.#works.add(work);
    return () => {
      this.#works.delete(work);
      this.#forgetDue();
    };
  }

  /** Forgets an owner when all work is over that has begun by now; at once where there is none. */
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
    const [oldest = Infinity] = this.#works;
    let left = MOST_AT_ONCE;
    for (const [owner, { last, notes }] of this.#owners) {
      if (last >= oldest) return;
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
