import type { Release } from "../model/mod.ts";
import type { Row } from "./ledger_database.ts";

/**
 * Fates of a release: `applying` from its intent to its outcome, then `deployed`, `failed` (the
 * mixed state was kept) or `rolled_back` (its predecessor was put back).
 */
export type ReleaseStatus = "applying" | "deployed" | "failed" | "rolled_back";

/** What of a release is large, and read only on request: the rest is what lists of releases need. */
type Contents = "model" | "invocation" | "services" | "closure" | "live";

/** A release as the ledger remembers it, without its contents. */
export interface RecordedRelease extends Omit<Release, Contents> {
  readonly id: string;
  /** Counts the releases of one stack, from 1. */
  readonly number: number;
  readonly status: ReleaseStatus;
  readonly message: string;
  readonly createdAt: Date;
  readonly finishedAt?: Date;
  /** Content ids of the images its services ran when it was deployed, by service. */
  readonly images: Readonly<Record<string, string>>;
}

/** For releases of before it was recorded, in seconds: what a deployment has when it says nothing. */
const TIMEOUT_UNKNOWN = 180;

/** The release in a row of the table of releases. */
export function toRecordedRelease(row: Row): RecordedRelease {
  const facts = JSON.parse(String(row["facts"]));
  const finishedAt = row["finished_at"];
  return {
    timeoutSeconds: TIMEOUT_UNKNOWN,
    ...facts,
    id: String(row["id"]),
    number: Number(row["number"]),
    status: row["status"] as ReleaseStatus,
    message: String(row["message"]),
    createdAt: new Date(Number(row["created_at"])),
    ...(finishedAt === null ? {} : { finishedAt: new Date(Number(finishedAt)) }),
  };
}

/** The part of a release that is in its row, as JSON. */
export function clearFacts(release: Release, images: Readonly<Record<string, string>>): string {
  const { model: _, invocation: _i, services: _s, closure: _c, live: _l, ...facts } = release;
  return JSON.stringify({ ...withoutCredentials(facts), images });
}

/** The ledger's clear part must not hold what a URL may carry. */
export function withoutCredentials<T extends Pick<Release, "revision" | "configuration">>(
  facts: T,
): T {
  const { revision, configuration } = facts;
  return {
    ...facts,
    revision: withoutUserInfo(revision),
    ...(configuration === undefined ? {} : { configuration: withoutUserInfo(configuration) }),
  };
}

function withoutUserInfo(revision: Release["revision"]): Release["revision"] {
  const { source } = revision;
  const url = source.url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1");
  return { ...revision, source: { ...source, url } };
}
