/** Whether a case still shows the failure. */
export type Fails<T> = (items: readonly T[]) => Promise<boolean>;

/**
 * The shortest case this finds that still fails: the shortest failing tail by doubling, since a failure
 * mostly comes from the last steps, and of that every part left out that is not needed (delta
 * debugging: halves, quarters, … single items). The result is 1-minimal: without any one of its items
 * it passes. `items` must fail; `fails` is asked as rarely as possible, because a case is a deployment.
 */
export async function shrink<T>(items: readonly T[], fails: Fails<T>): Promise<readonly T[]> {
  let smallest = await failingTail(items, fails);
  for (let parts = 2; smallest.length > 1;) {
    const fewer = await withoutAPart(smallest, parts, fails);
    if (fewer !== undefined) {
      smallest = fewer;
      parts = Math.max(2, parts - 1);
    } else if (parts >= smallest.length) break;
    else parts = Math.min(smallest.length, parts * 2);
  }
  return smallest;
}

/**
 * Makes a failing case simpler as long as it fails: `simpler` names the next candidates, each of them
 * smaller in some way so that this ends.
 */
export async function simplify<T>(
  items: readonly T[],
  simpler: (items: readonly T[]) => Iterable<readonly T[]>,
  fails: Fails<T>,
): Promise<readonly T[]> {
  let simplest = items;
  for (let found = true; found;) {
    found = false;
    for (const candidate of simpler(simplest)) {
      if (!await fails(candidate)) continue;
      simplest = candidate;
      found = true;
      break;
    }
  }
  return simplest;
}

async function failingTail<T>(items: readonly T[], fails: Fails<T>): Promise<readonly T[]> {
  for (let length = 1; length < items.length; length *= 2) {
    const tail = items.slice(-length);
    if (await fails(tail)) return tail;
  }
  return items;
}

/** The case without one of `parts` equal parts, where that still fails. */
async function withoutAPart<T>(
  items: readonly T[],
  parts: number,
  fails: Fails<T>,
): Promise<readonly T[] | undefined> {
  const size = Math.ceil(items.length / parts);
  for (let from = 0; from < items.length; from += size) {
    const fewer = [...items.slice(0, from), ...items.slice(from + size)];
    if (fewer.length > 0 && await fails(fewer)) return fewer;
  }
  return undefined;
}
