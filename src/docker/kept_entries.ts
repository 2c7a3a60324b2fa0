import { beginning } from "../model/mod.ts";
import { tooMuch } from "./json_shape.ts";
import type { ListEntry } from "./kept_bytes.ts";

/** Cost of a value besides its characters, in characters. */
export const VALUE = 16;
/** The same of an entry. */
const ENTRY = 256;
/** Characters of an entry that counts as it came: what is made of it is not measured. */
const SHORT = 4096;
/** Characters of all that is kept of one list; and of what stays where that is more. */
const MOST = 128 << 20;
const ROOM = 96 << 20;
/** Characters of a name in a message. */
const SHOWN = 200;

/**
 * What is kept of a list's entries, as long as it fits. Of a list of everybody's things, all of those in
 * whose name the most is kept is left out where it does not: nobody's entries keep others from theirs.
 */
export class KeptEntries<T> {
  #kept: { readonly value: T; readonly whose: string | undefined; readonly size: number }[] = [];
  #size = 0;
  readonly #sizes = new Map<string, number>();
  readonly #leftOut = new Set<string | undefined>();
  readonly #tell: (why: string) => void;

  /** `tell` hears in a few words what is left out. */
  constructor(tell: (why: string) => void) {
    this.#tell = tell;
  }

  get values(): T[] {
    return this.#kept.map(({ value }) => value);
  }

  isLeftOut(whose: string | undefined): boolean {
    return this.#leftOut.has(whose);
  }

  /** Adds what was made of an entry. Throws `engine_refused` for too much in nobody's name. */
  add(value: T, { text = "", values }: ListEntry, whose: string | undefined): void {
    const size = ENTRY + (text.length > SHORT ? sizeOf(value) : text.length + VALUE * values);
    this.#kept.push({ value, whose, size });
    this.#size += size;
    if (whose !== undefined) this.#sizes.set(whose, (this.#sizes.get(whose) ?? 0) + size);
    if (this.#size > MOST) this.#makeRoom();
  }

  /** Leaves out more than has to be: each further entry would begin it anew otherwise. */
  #makeRoom(): void {
    if (this.#sizes.size === 0) throw tooMuch(`a list of more than ${MOST} characters`);
    for (const [whose, size] of [...this.#sizes].sort(([, one], [, other]) => other - one)) {
      if (this.#size <= ROOM) break;
      this.#leftOut.add(whose);
      this.#sizes.delete(whose);
      this.#size -= size;
      this.#tell(`a list with ${size} characters of ${JSON.stringify(beginning(whose, SHOWN))}`);
    }
    this.#kept = this.#kept.filter((each) => !this.#leftOut.has(each.whose));
  }
}

/** About the memory that a value of JSON takes, in characters. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return VALUE + value.length;
  if (typeof value !== "object" || value === null) return VALUE;
  let size = VALUE;
  if (Array.isArray(value)) { for (const each of value) size += sizeOf(each); }
  else for (const [name, each] of Object.entries(value)) size += VALUE + name.length + sizeOf(each);
  return size;
}
