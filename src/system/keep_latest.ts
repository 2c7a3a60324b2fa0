/** Puts a value at the end of what is kept, of which the oldest go beyond `most`; returns the value. */
export function keepLatest<K, V>(kept: Map<K, V>, most: number, key: K, value: V): V {
  kept.delete(key);
  kept.set(key, value);
  for (const oldest of kept.keys()) {
    if (kept.size <= most) break;
    kept.delete(oldest);
  }
  return value;
}
