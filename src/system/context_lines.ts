import { DEFAULT_CONTEXT, LONGEST_MESSAGE } from "../model/mod.ts";
import type { Said } from "./log_line.ts";

/** Characters of the lines about one context in five minutes; ten thousand runs of jobs take half. */
const MOST = 8 << 20;
const SPAN_MS = 5 * 60_000;
/** Characters of one line, besides what JSON adds: a message, and as many of its causes. */
const LONGEST_LINE = 4 * LONGEST_MESSAGE;

interface Share {
  readonly context: string;
  left: number;
  leftOut: number;
}

/**
 * Bounds the lines about each context but the default one, however many jobs and changes its engine
 * tells of; a line that is longer than what is left is cut. Warnings and errors have a share of their
 * own: a repository's build may print as much as the other one allows. What a request did is always
 * written, and so is the last line of all.
 */
export class ContextLines {
  readonly #put: (said: Said, most: number) => number;
  #shares = new Map<string, Share>();
  #began = 0;

  /** `put` writes a line with at most so many characters of texts, and returns its length. */
  constructor(put: (said: Said, most: number) => number) {
    this.#put = put;
  }

  /** Writes a line, or counts it as left out. `now` is in milliseconds. Throws what writing throws. */
  write(said: Said, now: number): void {
    if (Math.abs(now - this.#began) >= SPAN_MS) this.#beginAnew(now);
    const context = boundedContext(said);
    if (context === undefined) return void this.#put(said, LONGEST_LINE);
    const isGrave = said.level === "warning" || said.level === "error";
    const key = `${isGrave} ${context}`;
    const share = this.#shares.getOrInsert(key, { context, left: MOST, leftOut: 0 });
    if (share.left <= 0) return void share.leftOut++;
    share.left -= this.#put(said, Math.min(share.left, LONGEST_LINE));
    if (share.left > 0) return;
    this.#warn(
      context,
      "too many lines about this context: more are left out for up to five minutes",
    );
  }

  #beginAnew(now: number): void {
    const before = this.#shares;
    this.#shares = new Map();
    this.#began = now;
    for (const { context, leftOut } of before.values()) {
      if (leftOut > 0) this.#warn(context, `${leftOut} lines about this context were left out`);
    }
  }

  #warn(context: string, message: string): void {
    this.#put({ level: "warning", message, fields: { context } }, LONGEST_LINE);
  }
}

function boundedContext({ level, fields: { context, request_id } }: Said): string | undefined {
  const isBounded = context !== DEFAULT_CONTEXT && request_id === undefined && level !== "critical";
  return isBounded && typeof context === "string" ? context : undefined;
}
