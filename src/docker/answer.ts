import { Buffer } from "node:buffer";
import { type Clock, createPauses, type Pauses } from "../system/mod.ts";
import { asList, asRecord, type Json, type JsonRecord } from "./json.ts";
import { JsonShape, tooMuch } from "./json_shape.ts";
import { ListEntries, type ListShape } from "./list_entries.ts";
import { type EnginePlaces, held } from "./places.ts";
import type { TransportResponse } from "./transport_messages.ts";

/** Bytes of an answer that are processed between two pauses. */
const SLICE = 512 << 10;
/** Bytes beyond which pauses become rests of `REST_MS`: so long an answer is never urgent. */
const QUICK = 4 << 20;
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
      if (cost < rested + SLICE) continue;
      rested = cost;
      await clock.sleep(REST_MS, signal);
    }
    isWhole = true;
  } finally {
    if (!isWhole) response.discard();
  }
}

/** Values of a large answer, and those that take about a millisecond to parse. */
const LARGE = 20_000;
const PER_MS = 2000;
/** Bytes of memory from which a list is read beside few others. */
const LONG = 16 << 20;
/** Cost of a value besides its characters, in characters. */
const VALUE = 16;

/** What reading needs beside the answer. */
interface Reading {
  readonly clock: Clock;
  readonly places: EnginePlaces;
}

/**
 * An answer's JSON value. Large ones of an engine are parsed one after the other, with rests: many
 * that end at the same time would keep everybody else waiting for as long as all of them take.
 *
 * Throws `engine_refused` for one that is too large, and SyntaxError.
 */
export async function readValue(
  response: TransportResponse,
  { clock, places, mostBytes = Infinity }: Reading & { readonly mostBytes?: number },
  signal: AbortSignal,
): Promise<Json> {
  const shape = new JsonShape();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of unhurried(response, clock, signal)) {
    length += chunk.length;
    if (length > mostBytes) throw tooMuch(`longer than ${mostBytes} bytes`);
    shape.add(chunk);
    chunks.push(chunk);
  }
  return await inTurn(shape.values, () => parsed(chunks), { clock, places }, signal);
}

/** Reads something with so many values, beside nothing else where these are many. */
async function inTurn<T>(
  values: number,
  read: () => T | Promise<T>,
  { clock, places }: Reading,
  signal: AbortSignal,
): Promise<T> {
  if (values < LARGE) return await read();
  return await places.turns.run(async () => {
    await clock.sleep(values / PER_MS, signal);
    return await read();
  }, signal);
}

/** Bytes up to which an answer is parsed at once: finding its entries would take longer. */
const SHORT = 256 << 10;

/**
 * The results of `of` for each entry of the list in an answer, without `undefined`. Only one entry
 * of a long list is in memory at a time. Throws as {@link readValue} does.
 */
export async function readList<T>(
  response: TransportResponse,
  { of, clock, places, ...shape }: ListShape & Reading & {
    readonly of: (entry: JsonRecord) => T | undefined;
  },
  signal: AbortSignal,
): Promise<T[]> {
  const pauses = createPauses(SLICE);
  const made: T[] = [];
  const make = async (entry: Json, length: number) => {
    const value = of(asRecord(entry));
    if (value !== undefined) made.push(value);
    await pauses.after(length + ENTRY);
    signal.throwIfAborted();
  };
  const short = new JsonShape();
  let begin: Uint8Array[] | undefined = [];
  const entries = new ListEntries(shape);
  const place = held(places.long, signal);
  let length = 0;
  try {
    for await (const chunk of unhurried(response, clock, signal)) {
      length += chunk.length;
      begin?.push(chunk);
      if (length <= SHORT) {
        short.add(chunk);
        continue;
      }
      for (const each of begin ?? [chunk]) {
        for (const text of entries.add(each)) {
          const values = entries.lastValues;
          const read = () => make(JSON.parse(text), text.length + values * VALUE);
          await inTurn(values, read, { clock, places }, signal);
        }
      }
      begin = undefined;
      if (entries.memory > LONG) await place.take();
    }
    if (begin === undefined) entries.end();
    else for (const each of listIn(parsed(begin), shape)) await make(each, 0);
    return made;
  } finally {
    place.leave();
  }
}

function listIn(answer: Json, { under }: ListShape): readonly Json[] {
  return asList(under === undefined ? answer : asRecord(answer)[under]);
}

function parsed(chunks: readonly Uint8Array[]): Json {
  return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks)));
}
