interface Piece<Work> {
  readonly name: string;
  readonly work: Work;
  readonly size: number;
}

/** The turn of an author: what to go on with. */
export interface AuthorTurn<Work> extends Piece<Work> {
  readonly author: string;
}

interface Author<Work> {
  /** Milliseconds that its work took, with those of others until it came. */
  used: number;
  readonly waiting: Map<string, Piece<Work>>;
  /** Name of the piece that was begun: it is ended before another one. */
  begun?: string;
}

/**
 * Turns of the authors who have work, in steps: the next one is of the author whose work took the least
 * time since it came. However much one has, it delays another by as much as that one has itself, and a
 * step. The smallest piece of an author comes first.
 */
export class AuthorTurns<Work> {
  readonly #authors = new Map<string, Author<Work>>();

  /** Adds a piece, unless the author has one of that name. */
  add(author: string, piece: Piece<Work>): void {
    this.#authors
      .getOrInsertComputed(author, () => ({ used: this.#least(), waiting: new Map() }))
      .waiting.getOrInsert(piece.name, piece);
  }

  /** The next turn; `undefined` when nothing waits. */
  next(): AuthorTurn<Work> | undefined {
    const least = this.#least();
    for (const [author, own] of this.#authors) {
      if (own.used > least) continue;
      const smallest = own.waiting.get(own.begun ?? "") ??
        [...own.waiting.values()].reduce((a, b) => b.size < a.size ? b : a);
      own.begun = smallest.name;
      return { ...smallest, author };
    }
    return undefined;
  }

  /** Notes the milliseconds that a turn took. */
  use({ author }: Pick<AuthorTurn<Work>, "author">, milliseconds: number): void {
    const own = this.#authors.get(author);
    if (own !== undefined) own.used += milliseconds;
  }

  end({ author, name }: Pick<AuthorTurn<Work>, "author" | "name">): void {
    const own = this.#authors.get(author);
    own?.waiting.delete(name);
    if (own?.begun === name) delete own.begun;
    if (own?.waiting.size === 0) this.#authors.delete(author);
  }

  clear(): void {
    this.#authors.clear();
  }

  #least(): number {
    let least = Infinity;
    for (const { used } of this.#authors.values()) least = Math.min(least, used);
    return least === Infinity ? 0 : least;
  }
}
