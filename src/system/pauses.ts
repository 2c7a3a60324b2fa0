/** Pauses in long work, in which this process gets to everything else. */
export interface Pauses {
  /** Tells how many characters were looked at; resolves at once, or after a pause when it was many. */
  after(characters: number): Promise<void> | undefined;
}

/** Characters that are looked at in about ten milliseconds, whatever is looked for. */
const USUAL = 64 * 1024;

/** Makes pauses, one for every so many characters. */
export function createPauses(characters: number = USUAL): Pauses {
  let seen = 0;
  return {
    after(more) {
      seen += more;
      if (seen < characters) return undefined;
      seen = 0;
      return new Promise((resolve) => setTimeout(resolve, 0));
    },
  };
}
