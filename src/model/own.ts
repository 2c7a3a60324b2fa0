/**
 * The value a record has under a name, if it is its own: what repositories call their things may be
 * `constructor` or `toString`, which every object answers to.
 */
export function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
