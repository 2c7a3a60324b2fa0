import type { Scalar } from "yaml";

/**
 * The text that the checksum of SOPS covers for a scalar that is not encrypted: SOPS reads YAML
 * with Go's types and writes them in its own spelling. `undefined` for null, which it leaves out.
 */
export function checkedScalar(node: Scalar): string | undefined {
  const source = node.source ?? "";
  if (node.type !== "PLAIN" || node.tag === "tag:yaml.org,2002:str") {
    return typeof node.value === "string" ? node.value : source;
  }
  if (["", "~", "null", "Null", "NULL"].includes(source)) return undefined;
  if (["true", "True", "TRUE"].includes(source)) return "True";
  if (["false", "False", "FALSE"].includes(source)) return "False";
  return checkedSpecial(source) ?? checkedTime(source) ?? checkedInteger(source) ??
    checkedFloat(source) ?? source;
}

/** A number as Go writes it without an exponent, with as few digits as tell it from others. */
export function plainNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  if (Object.is(value, -0)) return "-0";
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign = "", first = "", rest = "", exponent = "0"] = match;
  const digits = first + rest;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return sign + digits.padEnd(point, "0");
}

function checkedSpecial(source: string): string | undefined {
  if (/^\.(?:nan|NaN|NAN)$/.test(source)) return "NaN";
  const infinity = /^([-+]?)\.(?:inf|Inf|INF)$/.exec(source);
  return infinity === null ? undefined : infinity[1] === "-" ? "-Inf" : "+Inf";
}

function checkedTime(source: string): string | undefined {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(source);
  if (day) return `${source}T00:00:00Z`;
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.test(source)
    ? source
    : undefined;
}

/** Most characters of an integer, leading zeros included: millions of digits take seconds. */
export const LONGEST_INTEGER = 100;

/** An integer as Go reads it: with underscores, and as octal after a leading zero. */
function checkedInteger(source: string): string | undefined {
  const plain = source.replaceAll("_", "");
  const match = /^([-+]?)(0x[0-9a-fA-F]+|0b[01]+|0o?[0-7]+|0|[1-9]\d*)$/.exec(plain);
  if (match === null) return undefined;
  const [, sign = "", digits = ""] = match;
  // No integer of Go.
  if (digits.length > LONGEST_INTEGER) return undefined;
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
  const value = BigInt(octal);
  return `${sign === "-" && value !== 0n ? "-" : ""}${value}`;
}

function checkedFloat(source: string): string | undefined {
  const plain = source.replaceAll("_", "");
  if (!/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(plain)) return undefined;
  return plainNumber(Number(plain));
}
