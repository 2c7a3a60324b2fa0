/** Members that may be left out. */
export type Filled<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/**
 * The members of an engine's body that say something: those that are `undefined`, an empty text, list
 * or map are left to the engine.
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
