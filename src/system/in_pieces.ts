/** Cuts what there is into lists of at most so many, the last one shorter: for work with pauses in between. */
export function* inPieces<T>(all: Iterable<T>, most: number): Generator<T[]> {
  let piece: T[] = [];
  for (const each of all) {
    piece.push(each);
    if (piece.length < most) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}
