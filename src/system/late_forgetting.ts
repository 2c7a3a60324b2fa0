/** Characters of what is new of an owner and remembered; one with more is not forgotten. */
const MOST = 4 << 20;

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
    const [oldest = Infinity] = this.#works;
    for (const [owner, { last, notes }] of this.#owners) {
      if (last >= oldest) return;
      this.#owners.delete(owner);
      const further = this.#forget(owner);
      for (const make of notes.values()) make();
      for (const each of further) this.#await(each);
    }
  }
}
