import { Buffer } from "node:buffer";
import { type Apart, type Clock, createPauses, type Pauses } from "../system/mod.ts";
import { asList, asRecord, type Json, type JsonRecord } from "./json.ts";
import { JsonShape, tooMuch } from "./json_shape.ts";
import { KeptEntries, VALUE } from "./kept_entries.ts";
import { picked } from "./kept_parts.ts";
import type { ListEntry } from "./kept_bytes.ts";
import { ListEntries, type ListShape } from "./list_entries.ts";
import { type EnginePlaces, held } from "./places.ts";
import type { TransportResponse } from "./transport_messages.ts";

/** Bytes of an answer that are processed between two pauses. */
const SLICE = 512 << 10;
/** Bytes beyond which an answer is long: rests of `REST_MS` follow on each `WORK` bytes. */
const QUICK = 4 << 20;
const WORK = 1 << 20;
const REST_MS = 40;
/** Cost of a chunk besides its bytes, in bytes: an engine may send single bytes. */
const CHUNK = 2048;
/** Cost of a list's entry besides its characters, in characters. */
const ENTRY = 1024;

/**
 * The body of an answer, read with pauses in which the process does other work: the longer the
 * answer, the smaller its share of the processor. Discards the rest if its reader stops or throws.
 */
export async function* unhurried(
  response: TransportResponse,
  clock: Clock,
  signal: AbortSignal,
  apart: Apart = atOnce,
): AsyncGenerator<Uint8Array> {
  const pauses: Pauses = createPauses(SLICE);
  let cost = 0;
  let rested = QUICK;
  let isWhole = false;
  try {
    for await (const chunk of response.body) {
      yield chunk;
      cost += chunk.length + CHUNK;
      await pauses.after(chunk.length + CHUNK);
      signal.throwIfAborted();
      if (cost < rested + WORK) continue;
      rested = cost;
      await apart(() => clock.sleep(REST_MS, signal));
    }
    isWhole = true;
  } finally {
    if (!isWhole) response.discard();
  }
}

/** Runs a wait that counts like all else. */
export const atOnce: Apart = (wait) => wait();

/** Reason for ending the reading of an answer that is long: it is asked for again when it is its turn. */
export class LongAnswer extends Error {}

/**
 * As {@link unhurried}, when few others are read. A long answer ends with {@link LongAnswer} where that is
 * wanted: what somebody's repository made long keeps no short answer waiting, and nothing of it is kept.
 */
async function* inPlace(
  response: TransportResponse,
  { clock, places, who = "", apart = atOnce, long }: Reading,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const place = held(who, places.readings, signal);
  try {
    if (long?.isTurn !== true) await apart(() => place.take());
    let length = 0;
    for await (const chunk of unhurried(response, clock, signal, apart)) {
      length += chunk.length;
      if (long?.isTurn === false && length >= QUICK) throw new LongAnswer();
      yield chunk;
    }
    if (length < QUICK) long?.onShort();
  } catch (error) {
    response.discard();
    throw error;
  } finally {
    place.leave();
  }
}

/** Values of a large answer, and those that take about a millisecond to parse. */
const LARGE = 20_000;
const PER_MS = 2000;
/** Bytes up to which a list is parsed at once. */
const SHORT = 256 << 10;

/** What reading needs beside the answer. */
export interface Reading {
  readonly clock: Clock;
  readonly places: EnginePlaces;
  /** The name of those that it is read for; empty by default. */
  readonly who?: string;
  /** Runs waits for others, and rests: the limit of the call does not count them. */
  readonly apart?: Apart;
  /** What a long answer does; without it, it is read like a short one. */
  readonly long?: {
    /** Whether it has its place among the long ones. */
    readonly isTurn: boolean;
    /** Called when it turned out to be short. */
    onShort(): void;
  };
}

/**
 * An answer's JSON value. Large ones of an engine are parsed one after the other, with rests: many
 * that end at the same time would keep everybody else waiting for as long as all of them take.
 *
 * Throws `engine_refused` for one that is too large, and SyntaxError.
 */
export async function readValue(
  response: TransportResponse,
  { mostBytes = Infinity, ...how }: Reading & {
    /** Limit in bytes up to which no place among those who read is needed. */
    readonly mostBytes?: number;
  },
  signal: AbortSignal,
): Promise<Json> {
  const shape = new JsonShape();
  const chunks: Uint8Array[] = [];
  let length = 0;
  const body = mostBytes === Infinity
    ? inPlace(response, how, signal)
    : unhurried(response, how.clock, signal);
  for await (const chunk of body) {
    length += chunk.length;
    if (length > mostBytes) throw tooMuch(`longer than ${mostBytes} bytes`);
    shape.add(chunk);
    chunks.push(chunk);
  }
  return await inTurn(shape.values, () => parsed(chunks), how, signal);
}

/** Reads something with so many values, beside nothing else where these are many. */
async function inTurn<T>(
  values: number,
  read: () => T | Promise<T>,
  { clock, places, apart = atOnce }: Reading,
  signal: AbortSignal,
): Promise<T> {
  if (values < LARGE) return await read();
  const turn = async () => {
    await clock.sleep(values / PER_MS, signal);
    return await read();
  };
  return await apart(() => places.turns.run(turn, signal));
}

/** Reading of a list's entries. */
export interface EntryReading<T> extends ListShape {
  /** What is kept of an entry; nothing where it is `undefined`. */
  readonly of: (entry: JsonRecord) => T | undefined;
  /**
   * The name that an entry counts for, in a list of everybody's things: where these are too much, all
   * of the name with the most is left out. Without names the list is refused then.
   */
  readonly whose?: (entry: JsonRecord) => string;
  /** Whether the list is refused where anything would be left out of it. */
  readonly isWhole?: boolean;
}

/**
 * The results of `of` for each entry of the list in an answer, without `undefined`. Only one entry is
 * in memory at a time; one that is too large is left out. What is left out is told to `leftOut`.
 *
 * Throws `engine_refused` for too much that has no names, and SyntaxError.
 */
export async function readList<T>(
  response: TransportResponse,
  { of, whose, leftOut, keep, under, ...how }: EntryReading<T> & Reading & {
    readonly leftOut: (what: string) => void;
  },
  signal: AbortSignal,
): Promise<T[]> {
  const shape = { keep, ...(under === undefined ? {} : { under }) };
  const pauses = createPauses(SLICE);
  const kept = new KeptEntries<T>(leftOut);
  const entries = new ListEntries(shape);
  const read = (entry: ListEntry, text: string) => {
    const record = asRecord(JSON.parse(text));
    const name = whose?.(record);
    const value = kept.isLeftOut(name) ? undefined : of(record);
    if (value !== undefined) kept.add(value, entry, name);
  };
  const begin: Uint8Array[] = [];
  let length = 0;
  const more = (chunk: Uint8Array) => {
    length += chunk.length;
    if (length <= SHORT) begin.push(chunk);
    return length <= SHORT
      ? []
      : [...begin.splice(0), chunk].values().flatMap((each) => entries.add(each));
  };
  for await (const chunk of inPlace(response, how, signal)) {
    for (const entry of more(chunk)) {
      const { text, values } = entry;
      if (text === undefined) {
        leftOut("a list with an entry that is too large");
        continue;
      }
      await inTurn(values, () => read(entry, text), how, signal);
      await pauses.after(text.length + values * VALUE + ENTRY);
      signal.throwIfAborted();
    }
  }
  if (length <= SHORT) {
    return shortList(begin, shape).map(of).filter((each) => each !== undefined);
  }
  entries.end();
  return kept.values;
}

/** The entries of a short answer: finding them as they arrive would take longer. */
function shortList(chunks: readonly Uint8Array[], { keep, under }: ListShape): JsonRecord[] {
  const shape = new JsonShape();
  for (const each of chunks) shape.add(each);
  const answer = parsed(chunks);
  const list = asList(under === undefined ? answer : asRecord(answer)[under]);
  return list.map((each) => asRecord(picked(each, keep)));
}

function parsed(chunks: readonly Uint8Array[]): Json {
  return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
}
