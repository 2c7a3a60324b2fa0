import type { Release, StackOwner } from "../model/mod.ts";
import type { Row } from "./ledger_database.ts";
import { jsonIn } from "./json_in.ts";

/**
 * States of a release: `applying` from its intent to its outcome, then `deployed`, `failed` (what
 * it changed was kept) or `rolled_back` (its predecessor was put back).
 */
export type ReleaseStatus = "applying" | "deployed" | "failed" | "rolled_back";

/** Large parts of a release, which are read on request; lists of releases need only the rest. */
type Contents = "model" | "invocation" | "unused" | "services" | "closure" | "live";

/** A release as the ledger records it, without its large parts. */
export interface RecordedRelease extends Omit<Release, Contents> {
  readonly id: string;
  /** Number of the release within its stack, from 1. */
  readonly number: number;
  readonly status: ReleaseStatus;
  readonly message: string;
  readonly createdAt: Date;
  readonly finishedAt?: Date;
  /** Owner of its stack when it was deployed; absent where none was recorded. */
  readonly owner?: StackOwner;
  /** Content ids of the images its services ran when it was deployed, by service. */
  readonly images: Readonly<Record<string, string>>;
}

/** Seconds for releases of versions that did not record a timeout: a deployment's default. */
const TIMEOUT_UNKNOWN = 180;

/** The release in a row of the table of releases. */
export function toRecordedRelease(row: Row): RecordedRelease {
  const facts = jsonIn(row, "facts");
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

/** Facts about a release that are recorded beside it. */
export type BesideRelease = Pick<RecordedRelease, "images" | "owner">;

/** The part of a release that its row stores, as JSON. */
export function clearFacts(release: Release, { images, owner }: BesideRelease): string {
  const { model: _, invocation: _i, unused: _u, services: _s, closure: _c, live: _l, ...facts } =
    release;
  return JSON.stringify({ ...withoutCredentials(facts), images, ...(owner && { owner }) });
}

/**
 * Removes credentials from URLs, since this part of the ledger is not sealed. The account of SSH is none:
 * without it the URL would lead elsewhere.
 */
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
  const { url: given } = source;
  const url = /^ssh:/i.test(given)
    ? given.replace(/^(ssh:\/\/[^:/?#]*)(?::[^/?#]*)?@/i, "$1@")
    : given.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1");
  return { ...revision, source: { ...source, url } };
}
