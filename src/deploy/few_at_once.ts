/** Containers that are looked at together. */
const AT_ONCE = 4;

/**
 * The results of `work` for each of a list, a few at a time: how many containers there are is up to
 * others, and what an engine tells of one may be large. Rejects with the first failure, and begins
 * nothing more then.
 */
export async function fewAtOnce<Each, Made>(
  all: readonly Each[],
  work: (each: Each) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    made.push(...await Promise.all(all.slice(from, from + AT_ONCE).map(work)));
  }
  return made;
}
