import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";

/** What every canary has at both ends; it means nothing anywhere else. */
const TAG = "cNaRyQ7";

/**
 * What changes under JSON, YAML, URLs, HTML, shells and encodings, by where a value has to fit: `any`
 * text, a `header` of HTTP, `quoted` in a dotenv file, a `word` for places with rules of their own.
 */
const MIDDLE = {
  any: " \"'\\$&+/%<>;=?#!:@,{}|~é€😀`* ",
  header: "\"'\\$&+/%<>;=?#!:@,{}|~`* _",
  quoted: ' "\\$&+/%<>;=?#!:@,{}|~é€😀`* ',
  word: "-$+/%=_:.",
} as const;

/** Kinds of values. */
export type CanaryKind = keyof typeof MIDDLE;

/**
 * Unique values to plant where secrets are, and a detector that finds any half of one of them,
 * however it was written. It needs no list: every canary begins and ends with the same mark.
 */
export class Canaries {
  /** Texts of a form that cannot hold the mark, such as keys, by name. */
  readonly #given = new Map<string, readonly Buffer[]>();
  readonly #made = new Map<string, string>();
  readonly #needles: readonly Buffer[] = needlesOf(TAG);

  /** A new value; `name` says where it is planted. */
  make(name: string, kind: CanaryKind = "any"): string {
    const end = () => `${TAG}${randomBytes(3).toString("hex")}`;
    const value = `${end()}${MIDDLE[kind]}${end()}`;
    this.#made.set(name, value);
    return value;
  }

  /** A secret with a form of its own: its lines are looked for, headers of keys left out. */
  plant(name: string, value: string): string {
    const lines = value.split(/\r?\n/).filter((line) =>
      line.length >= 16 && !line.startsWith("--")
    );
    lines.forEach((line, index) => this.#given.set(`${name}, line ${index + 1}`, needlesOf(line)));
    return value;
  }

  /** What of the canaries is in there: places and surroundings; empty when there is nothing. */
  find(content: string | Uint8Array): string[] {
    const bytes = Buffer.from(content as string);
    const found = this.#needles.flatMap((needle) => {
      const at = bytes.indexOf(needle);
      return at < 0 ? [] : [this.#describe(bytes, at)];
    });
    for (const [name, needles] of this.#given) {
      if (needles.some((needle) => bytes.includes(needle))) found.push(name);
    }
    return found;
  }

  /** The surroundings of a finding, with the name of the canary where it can be told. */
  #describe(bytes: Buffer, at: number): string {
    const text = bytes.subarray(Math.max(0, at - 80), at + 80).toString("utf8");
    const id = bytes.subarray(at + TAG.length, at + TAG.length + 6).toString("utf8");
    const named = [...this.#made].find(([, value]) => value.includes(`${TAG}${id}`));
    return `${named?.[0] ?? "a canary"} in …${text}…`;
  }
}

/** The ways a text of letters and digits may be written. */
function needlesOf(text: string): Buffer[] {
  const bytes = Buffer.from(text, "utf8");
  const each = (write: (byte: number) => string) => [...bytes].map(write).join("");
  const hex = (byte: number) => byte.toString(16).padStart(2, "0");
  const reversed = [...text].reverse().join("");
  const forms = [
    text,
    text.toLowerCase(),
    text.toUpperCase(),
    reversed,
    each(hex),
    each(hex).toUpperCase(),
    each((byte) => `%${hex(byte)}`),
    each((byte) => `%${hex(byte).toUpperCase()}`),
    each((byte) => `\\u00${hex(byte)}`),
    each((byte) => `\\x${hex(byte)}`),
    each((byte) => `\\${byte.toString(8)}`),
    [...bytes].join(","),
    ...base64Parts(bytes),
  ];
  return [...new Set(forms)].map((form) => Buffer.from(form)).concat(Buffer.from(text, "utf16le"));
}

/** The characters of its base64 that do not depend on what stands around it. */
function base64Parts(bytes: Uint8Array): string[] {
  return [0, 1, 2].flatMap((offset) => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes]);
    const [first, end] = [Math.ceil(offset * 8 / 6), Math.floor(whole.length * 8 / 6)];
    const part = whole.toString("base64").slice(first, end);
    return [part, part.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
