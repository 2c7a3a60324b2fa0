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

/** Name of the needles of {@link TAG}. */
const MARK = "a mark";

/** Kinds of values. */
export type CanaryKind = keyof typeof MIDDLE;

/**
 * Unique values to plant where secrets are, and a detector that finds any half of one of them,
 * however it was written. It needs no list: every canary begins and ends with the same mark.
 */
export class Canaries {
  readonly #made = new Map<string, string>();
  /** The mark, and texts of a form that cannot hold it, such as the lines of keys. */
  readonly #needles = new Needles();

  constructor() {
    this.#needles.add(MARK, needlesOf(TAG));
  }

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
    lines.forEach((line, index) =>
      this.#needles.add(`${name}, line ${index + 1}`, needlesOf(line))
    );
    return value;
  }

  /** What of the canaries is in there: places and surroundings; empty when there is nothing. */
  find(content: string | Uint8Array): string[] {
    const bytes = Buffer.from(content as string);
    const found = this.#needles.in(bytes);
    const marks = found.filter(({ name }) => name === MARK);
    const names = found.filter(({ name }) => name !== MARK).map(({ name }) => name);
    return [...marks.map(({ at }) => this.#describe(bytes, at)), ...new Set(names)];
  }

  /** The surroundings of a finding, with the name of the canary where it can be told. */
  #describe(bytes: Buffer, at: number): string {
    const text = bytes.subarray(Math.max(0, at - 80), at + 80).toString("utf8");
    const id = bytes.subarray(at + TAG.length, at + TAG.length + 6).toString("utf8");
    const named = [...this.#made].find(([, value]) => value.includes(`${TAG}${id}`));
    return `${named?.[0] ?? "a canary"} in …${text}…`;
  }
}

/** Bytes to look for: a thousand of them at once, in one pass. */
class Needles {
  /** Whether a needle begins with these two bytes. */
  readonly #starts = new Uint8Array(1 << 16);
  /** Needles by their first four bytes, as a number. */
  readonly #byHead = new Map<number, { readonly name: string; readonly bytes: Buffer }[]>();

  /** Adds needles of one name. Each has four bytes or more. */
  add(name: string, needles: readonly Buffer[]): void {
    for (const bytes of needles) {
      const head = bytes.readUInt32BE(0);
      this.#starts[head >>> 16] = 1;
      this.#byHead.set(head, [...this.#byHead.get(head) ?? [], { name, bytes }]);
    }
  }

  /** The needles that are in there, each with its first place, in the order of places. */
  in(bytes: Buffer): { readonly name: string; readonly at: number }[] {
    const found = new Map<Buffer, { readonly name: string; readonly at: number }>();
    for (let at = 0; at + 4 <= bytes.length; at++) {
      if (this.#starts[(bytes[at] as number) << 8 | (bytes[at + 1] as number)] === 0) continue;
      for (const needle of this.#byHead.get(bytes.readUInt32BE(at)) ?? []) {
        const there = bytes.subarray(at, at + needle.bytes.length);
        if (there.equals(needle.bytes) && !found.has(needle.bytes)) {
          found.set(needle.bytes, { name: needle.name, at });
        }
      }
    }
    return [...found.values()];
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
