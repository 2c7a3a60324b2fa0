/** An object whose members may be left out. */
export type Filled<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * The members of an object that say something, for who takes those that are not there as told: without
 * those that are `undefined`, an empty text, an empty list or an empty map. `false` and 0 say something.
 */
export function filled<T extends object>(members: T): Filled<T> {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => !isEmpty(value)),
  ) as Filled<T>;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === "") return true;
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}
