import { parseDuration } from "../model/mod.ts";

/** The seconds of a duration of at least `minimum`; 0 and a report when it is none. */
export function seconds(
  written: number | string,
  minimum: number,
  refuse: (message: string) => void,
  most: number = Number.POSITIVE_INFINITY,
): number {
  try {
    const value = parseDuration(written);
    if (value > most) refuse(`expected at most ${most} seconds`);
    else if (value >= minimum) return value;
    else refuse(`expected at least ${minimum} seconds`);
  } catch {
    refuse("expected a whole number of seconds, such as 90, 10s or 1h30m");
  }
  return 0;
}

/** `remove_volumes` as `removeVolumes`. */
type Camel<K extends string> = K extends `${infer Word}_${infer Rest}`
  ? `${Word}${Capitalize<Camel<Rest>>}`
  : K;

/** The members with a default, under their names in the program. */
type Settled<D> = { readonly [K in keyof D & string as Camel<K>]: D[K] };

/** The values of a section, defaults filled in; the decoder already made `enabled` of a bare boolean. */
export function withDefaults<D extends object>(
  written: { readonly [K in keyof D]?: D[K] | null | undefined } | boolean | null | undefined,
  defaults: D,
): Settled<D> {
  const given: Readonly<Record<string, unknown>> = typeof written === "object"
    ? { ...written }
    : {};
  const camel = (name: string) =>
    name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(
    Object.entries(defaults).map(([name, fallback]) => [camel(name), given[name] ?? fallback]),
  ) as Settled<D>;
}

/** A map of scalars without its nulls. */
export function textMap(
  written: Readonly<Record<string, string | null>> | null | undefined,
): Readonly<Record<string, string>> {
  const entries: [string, string][] = [];
  for (const [key, value] of Object.entries(written ?? {})) {
    if (value !== null) entries.push([key, value]);
  }
  return Object.fromEntries(entries);
}

/** A list of scalars without its nulls. */
export function texts(written: readonly (string | null)[] | null | undefined): readonly string[] {
  return (written ?? []).filter((text) => text !== null);
}
