import { asRecord, asText, type Json } from "./json.ts";

/** What the log driver of a container keeps of its log. */
export interface LogRotation {
  /** Bytes of entries that it never removes while there are no more; infinite without rotation. */
  readonly kept: number;
  /** Whether all parts of a line have the time of its first one. */
  readonly isTimed: boolean;
}

/** Units of sizes, at the smaller of their two meanings. */
const UNITS: Readonly<Record<string, number>> = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12, p: 1e15 };

/**
 * What the engine tells of a container's log driver, with its options. Logs of drivers that cannot read
 * are kept in a cache, as those of the driver `local` are.
 */
export function rotationOf(config: Json | undefined): LogRotation {
  const { Type, Config } = asRecord(config);
  const options = asRecord(Config);
  const option = (name: string) => asText(options[name] ?? options[`cache-${name}`]);
  const isJson = Type === "json-file";
  const isTimed = isJson || Type === "local";
  const size = option("max-size") || (isJson ? "" : "20m");
  if (size === "") return { kept: Infinity, isTimed };
  const files = Number(option("max-file") || (isJson ? 1 : 5));
  const [, number = "0", unit = ""] = /^([\d.]+) ?([kmgtp]?)(?:i?b)?$/i.exec(size) ?? [];
  // The newest file may be empty, every other one is full.
  const kept = Number(number) * (UNITS[unit.toLowerCase()] ?? 0) * (files - 1);
  return { kept: kept > 0 ? kept : 0, isTimed };
}
