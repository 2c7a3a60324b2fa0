/** The size of somebody's texts, and of their parts. */
export interface Part<Inner = never> {
  readonly name: string;
  size: number;
  readonly parts: Map<string, Inner>;
}

/** The part of that name, grown by `size`. */
export function partOf<Inner>(
  parts: Map<string, Part<Inner>>,
  name: string,
  size: number,
): Part<Inner> {
  const part = parts.getOrInsertComputed(name, () => ({ name, size: 0, parts: new Map() }));
  part.size += size;
  return part;
}

/** The largest one; `undefined` where none has a size. */
export function largestOf<P extends { readonly size: number }>(
  parts: ReadonlyMap<string, P>,
): P | undefined {
  let largest: P | undefined;
  for (const part of parts.values()) if (part.size > (largest?.size ?? 0)) largest = part;
  return largest;
}
