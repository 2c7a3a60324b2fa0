import { COMPOSE_LABELS, LABELS } from "../model/mod.ts";
import type { Json, JsonRecord } from "./json.ts";

/**
 * Part of a value in an answer that is read: `short` for scalars and lists of them, without texts that
 * are longer than {@link MOST_TEXT}; `whole`; or some members of an object, or of each in a list.
 */
export type Part = "short" | "whole" | Members;

/** Members of an object that are read; all others are skipped, whatever their length. */
export interface Members {
  readonly of: (name: string) => Part | undefined;
  /** Name of a member without which the object is left out of its list. */
  readonly must?: string;
}

/** Bytes of a text in a `short` part; `false` stands for a longer one. */
export const MOST_TEXT = 64 << 10;

/** The members with these names. */
export function members(parts: Readonly<Record<string, Part>>, must?: string): Members {
  const byName = new Map(Object.entries(parts));
  return { of: (name) => byName.get(name), ...(must === undefined ? {} : { must }) };
}

/** Several members that are read as short ones. */
export function short(...names: string[]): Readonly<Record<string, Part>> {
  return Object.fromEntries(names.map((each) => [each, "short"]));
}

/** Members of any name. */
export function anyMembers(part: Part): Members {
  return { of: () => part };
}

const USED_LABEL = /^(?:stackwright|cd\.doco|com\.docker\.(?:compose|stack|swarm))\./;

/** The labels that Stackwright reads in lists; authors write any others, of any length. */
export const USED_LABELS: Members = { of: (name) => USED_LABEL.test(name) ? "short" : undefined };

/** Labels that tell where an image is from, as the specification of OCI images names them. */
export const IMAGE_LABELS: readonly string[] = [
  ...["authors", "base.digest", "base.name", "created", "description", "documentation", "licenses"],
  ...["ref.name", "revision", "source", "title", "url", "vendor", "version"],
].map((each) => `org.opencontainers.image.${each}`);

/** {@link USED_LABELS} and {@link IMAGE_LABELS}. */
export const SHOWN_LABELS: Members = {
  of: (name) => IMAGE_LABELS.includes(name) ? "short" : USED_LABELS.of(name),
};

/** Labels as long as what their authors wrote, which nobody reads in lists of everybody's. */
export const UNREAD_LABELS: readonly string[] = [
  ...[COMPOSE_LABELS.dependsOn, COMPOSE_LABELS.workingDirectory],
  LABELS.jobStops,
];

/** The labels that Stackwright reads in lists of everybody's things. */
export const FEW_LABELS: Members = {
  of: (name) => UNREAD_LABELS.includes(name) ? undefined : USED_LABELS.of(name),
};

/** A part of a parsed value: what is left where it is read as it arrives. */
export function picked(value: Json, part: Part): Json {
  if (part === "whole") return value;
  if (Array.isArray(value)) {
    const has = (each: Json) =>
      typeof part === "string" || part.must === undefined || !isObject(each) || part.must in each;
    return value.filter(has).map((each) => picked(each, part));
  }
  if (typeof part !== "string" && isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, each = null]) => {
        const kept = part.of(name);
        return kept === undefined ? [] : [[name, picked(each, kept)]];
      }),
    );
  }
  return typeof value === "string" && value.length > MOST_TEXT ? false : value;
}

function isObject(value: Json): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
