/** Numbers below a bound. */
export type Random = (below: number) => number;

/** Equally spread numbers below a bound; the same seed gives the same ones. */
export function randomFrom(seed: number): Random {
  const next = wordsFrom(seed);
  return (below) => next() % below;
}

/** Equally spread numbers from 0 up to 1; the same seed gives the same ones. */
export function fractionsFrom(seed: number): () => number {
  const next = wordsFrom(seed);
  return () => next() / 2 ** 32;
}

/** Words of 32 bits (mulberry32). */
function wordsFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
