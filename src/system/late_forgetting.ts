/** Forgetting of owners once the work is over that was under way: its texts may still be about them. */
export class LateForgetting {
  readonly #forget: (owner: string) => void;
  /** Numbers of the works under way, in their order. */
  readonly #works = new Set<number>();
  /** Owners to forget, in their order, with the number of the last work that had begun by then. */
  readonly #owners = new Map<string, number>();
  #last = 0;

  constructor(forget: (owner: string) => void) {
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
    this.keep(owner);
    this.#owners.set(owner, this.#last);
    this.#forgetDue();
  }

  /** Forgets an owner not after all: there is something new to know of it. */
  keep(owner: string): void {
    this.#owners.delete(owner);
  }

  #forgetDue(): void {
    const [oldest = Infinity] = this.#works;
    for (const [owner, last] of this.#owners) {
      if (last >= oldest) return;
      this.#owners.delete(owner);
      this.#forget(owner);
    }
  }
}
