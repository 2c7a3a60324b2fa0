/** Adds to the number of a thing in `counts`, where one of which none is left is not. */
export function count(counts: Map<string, number>, thing: string, by: number): void {
  const left = (counts.get(thing) ?? 0) + by;
  if (left > 0) counts.set(thing, left);
  else counts.delete(thing);
}
