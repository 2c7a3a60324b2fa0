import { listOf, recordOf } from "../model/mod.ts";

/** Any JSON value. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** A JSON object. */
export type JsonRecord = { readonly [key: string]: Json | undefined };

/** `value` if it is an object, else an empty one: the engine sends null for none. */
export function asRecord(value: unknown): JsonRecord {
  return recordOf(value) as JsonRecord;
}

/** `value` if it is a list, else an empty one. */
export function asList(value: Json | undefined): readonly Json[] {
  return listOf(value) as readonly Json[];
}

/** `value` if it is a text, else an empty one. */
export function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** `value` if it is a number. */
export function asNumber(value: Json | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** A time of the engine, a text or Unix milliseconds; the first instant for what is none. */
export function asTime(value: Json | undefined): Date {
  const date = new Date(typeof value === "number" || typeof value === "string" ? value : 0);
  return Number.isNaN(date.getTime()) ? new Date(0) : date;
}

/** The text members of an object, such as labels. */
export function asTexts(value: Json | undefined): Readonly<Record<string, string>> {
  const record = asRecord(value);
  // A copy of hundreds of thousands of members would take as much memory again.
  if (isTexts(record)) return record;
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, text]) =>
      typeof text === "string" ? [[name, text]] : []
    ),
  );
}

function isTexts(record: JsonRecord): record is Readonly<Record<string, string>> {
  return Object.values(record).every((each) => typeof each === "string");
}

/** The texts of a list. */
export function asTextList(value: Json | undefined): string[] {
  return asList(value).filter((each) => typeof each === "string");
}
