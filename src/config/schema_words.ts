import * as z from "zod";

/** The words of deployment schemas, which decoder, JSON Schema and reference share. */

/** Text, a number or a boolean, always read as the text its author wrote. */
export function scalar() {
  return z.union([z.string(), z.number(), z.boolean()], {
    error: "expected text, a number or a boolean",
  }).transform(String);
}

/** A list of {@link scalar}; empty places in it are skipped. */
export function scalars() {
  return z.array(scalar().nullable());
}

/** A mapping of free names to {@link scalar}; a name without a value counts as absent. */
export function scalarMap() {
  return z.record(z.string(), scalar().nullable());
}

/** A mapping of free names to anything; scalars in it are read as the text their author wrote. */
export function freeMap() {
  return z.record(z.string(), z.unknown().nullable());
}

/** `true` or `false`; unquoted YAML may also say yes, no, on or off. */
export function flag() {
  return z.boolean({ error: "expected true or false" });
}

/** A whole number of at least `minimum`. */
export function whole(minimum: number) {
  const error = `expected a whole number of at least ${minimum}`;
  return z.int({ error }).min(minimum, { error });
}

const DURATION =
  /^\s*\+?(?:\d+|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|\u00B5s|\u03BCs|ms|s|m|h))+)\s*$/;

/** Seconds as a number, or a duration text, for which the reader checks the range. */
export function duration(minimum: number) {
  return z.union([z.int().min(minimum), z.string().regex(DURATION)], {
    error: `expected whole seconds of at least ${minimum}, or a duration such as 10s, 3m or 1h30m`,
  });
}

/** One of a few words in any case, white space around it tolerated. */
export function choice(words: readonly [string, ...string[]]) {
  const shown = words.filter((word) => word !== "");
  const pattern = `^\\s*(?:${words.map(anyCase).join("|")})\\s*$`;
  return z.union([z.enum(words), z.string().regex(new RegExp(pattern))], {
    error: `expected ${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`,
  });
}

/** Flags do not survive in a JSON Schema, so the pattern itself accepts both cases. */
function anyCase(word: string): string {
  return [...word].map((letter) => `[${letter.toUpperCase()}${letter}]`).join("");
}

/** An optional field: `null` is the same as leaving it out. */
export function field<S extends z.ZodType>(schema: S, description: string, fallback?: unknown) {
  return schema.nullish().meta({
    description,
    ...(fallback === undefined ? {} : { default: fallback }),
  });
}

/** A closed mapping; `defaults` are those of its fields that have one. */
export function closed<S extends Readonly<Record<string, z.ZodType>>>(
  fields: S,
  defaults: { readonly [K in keyof S]?: unknown },
) {
  const told = Object.entries(fields).map(([name, schema]) => {
    const fallback = Object.hasOwn(defaults, name) ? { default: defaults[name] } : {};
    return [name, schema.meta({ ...schema.meta(), ...fallback })];
  });
  return z.strictObject(Object.fromEntries(told) as S);
}

/** A field that must have a value. */
export function needed<S extends z.ZodType>(schema: S, description: string): S {
  return schema.meta({ description });
}
