const NANOSECONDS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  "µs": 1e3,
  ms: 1e6,
  s: 1e9,
  m: 6e10,
  h: 3.6e12,
};

/** Longest text of a duration, beyond what compose prints: the search takes quadratic time. */
const LONGEST = 100;

/** Nanoseconds of a duration in Go's notation, such as `1m0.5s`; 0 for anything else. */
export function nanoseconds(text: unknown): number {
  if (typeof text !== "string" || text.length > LONGEST) return 0;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|h|m|s)/g);
  const total = [...parts].reduce(
    (sum, [, value, unit]) => sum + Number(value) * (NANOSECONDS[unit ?? ""] ?? 0),
    0,
  );
  return Math.round(total);
}

/** A number, or one printed as text, as compose prints bytes; `undefined` for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}

/** {@link numberOf}, but `undefined` for 0, which compose prints for a value that is not set. */
export function amountOf(value: unknown): number | undefined {
  const number = numberOf(value);
  return number === 0 ? undefined : number;
}

/** Billionths of a processor, rounded to 32 bits as in compose. */
export function nanoCpus(value: unknown): number | undefined {
  const cpus = amountOf(value);
  return cpus === undefined ? undefined : Math.trunc(Math.fround(Math.fround(cpus) * 1e9));
}

/** Compose before 2.34 prints the mode as a number, later versions as octal text. */
export function fileMode(mode: unknown): number {
  if (typeof mode === "number") return mode;
  if (typeof mode !== "string" || mode === "") return 0o444;
  return Number.parseInt(mode.replace(/^0o/, ""), 8);
}
