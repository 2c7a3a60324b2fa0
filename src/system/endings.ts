import { Beginnings, CUT_BEGINNING, type Effort, LONGEST } from "./beginnings.ts";

/** The time before a line that a builder tells: `#8 0.697 `, `0.697 `. */
const TIME = /(?:#\d{1,9} )?\d{1,9}\.\d{1,9} /y;
/** What a line begins after: the one before it, and the colon of what leads to it. */
const LEAD = /\n|: /g;
/** A time behind what begins a line. */
const TIME_BEFORE = /(?:^|\n|: )(?:#\d{1,9} )?\d{1,9}\.\d{1,9} $/;
/** Most characters that {@link TIME_BEFORE} matches, with some to spare. */
const LONGEST_BEFORE = 40;
const [LINE_END, COLON, BLANK] = [10, 58, 32];
/** Comparisons that looking at one place of a line costs, for each character of the line. */
const WALK = 4;

/**
 * The ends of texts, at the beginnings of lines. Output that was cut in front may begin within a secret:
 * log drivers remove and drop the parts of long lines one by one, engines and builders tell the last
 * bytes of what is too long, and none of them says so. What counts as such an end is what counts as the
 * beginning of a text that was cut off: both are compared backwards.
 */
export class Endings {
  readonly #backwards = new Beginnings();

  /** See {@link Beginnings.bytesOfMarks}. */
  get bytesOfMarks(): number {
    return this.#backwards.bytesOfMarks;
  }

  /** Adds a text of four to {@link LONGEST} characters, counting repetitions. */
  add(text: string): void {
    this.#backwards.add(backwards(text), true);
  }

  /** Takes back one addition of a text. */
  remove(text: string): void {
    this.#backwards.remove(backwards(text), true);
  }

  /** The next beginning of a line of a text, from a place on, that is the end of one of these; else infinite. */
  next(text: string, from: number, effort: Effort): number {
    const [time, lead] = [new RegExp(TIME), new RegExp(LEAD)];
    lead.lastIndex = Math.max(0, from - LONGEST_BEFORE);
    // The text begins as a line.
    let at = lead.lastIndex === 0 ? 0 : placeAfter(lead, text);
    for (; at < Infinity; at = placeAfter(lead, text)) {
      time.lastIndex = at;
      for (const place of [at, time.test(text) ? time.lastIndex : -1]) {
        if (place >= from && this.#lengthAt(text, place, effort) > 0) return place;
      }
    }
    return Infinity;
  }

  /** Length of the longest end of one of these at the beginning of a line; 0 elsewhere, and when none is there. */
  lengthAt(text: string, at: number, effort: Effort): number {
    const isBeginning = beginsLine(text, at) || text.charCodeAt(at - 1) === BLANK &&
        TIME_BEFORE.test(text.slice(Math.max(0, at - LONGEST_BEFORE), at));
    return isBeginning ? this.#lengthAt(text, at, effort) : 0;
  }

  #lengthAt(text: string, at: number, effort: Effort): number {
    // Up to the next one at most, so that each place of a text is looked at for one line only.
    const most = Math.min(at + LONGEST, text.length);
    let end = at + 1;
    while (end < most && !beginsLine(text, end)) end++;
    if (end - at < CUT_BEGINNING) return 0;
    const line = backwards(text.slice(at, end));
    let place = this.#backwards.next(line, 0, effort);
    while (place < Infinity) {
      const length = this.#backwards.lengthAt(line, place, effort);
      if (place + length === line.length) return length;
      effort.left -= WALK * line.length;
      if (effort.left < 0) break;
      place = this.#backwards.next(line, place + 1, effort);
    }
    return 0;
  }
}

/** Whether a line of output begins at a place: that of the text, after another one, or after the colon of what leads to it. */
function beginsLine(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return at === 0 || before === LINE_END || before === BLANK && text.charCodeAt(at - 2) === COLON;
}

/** Where the next match of a pattern ends; infinite without one. */
function placeAfter(pattern: RegExp, text: string): number {
  return pattern.test(text) ? pattern.lastIndex : Infinity;
}

function backwards(text: string): string {
  return text.split("").reverse().join("");
}
