import * as z from "zod";
import {
  DECISION_KINDS,
  type DecisionOutcome,
  formerOwner,
  type Release,
  type ShowDigest,
  type StackOwner,
} from "../model/mod.ts";
import type { RecordedDecision, RecordedRelease } from "../record/mod.ts";
import type { TimeFormat } from "../system/mod.ts";
import { serviceView, viewServices } from "./run_view.ts";
import { timestamp } from "./stack_parts.ts";

/** An owner of a stack in an answer. */
export const ownerView = z.strictObject({
  source: z.string().describe("`host/owner/repo`."),
  reference: z.string().describe("`refs/heads/…`; empty where branches are not told apart."),
});

/** One release of a list in an answer. */
export const releaseView = z.strictObject({
  number: z.int().describe("Counts the releases of the stack, from 1."),
  current: z.boolean().describe("Whether it is the one that is deployed."),
  status: z.enum(["applying", "deployed", "failed", "rolled_back"]),
  revision: z.string().describe("Commit id."),
  reference: z.string(),
  created_at: timestamp,
  message: z.string().describe("What became of it."),
  former_owner: ownerView.optional().describe(
    "Whose it is, where that is not the stack's owner now; no rollback chooses it then.",
  ),
});

/** The deployed release in an answer. */
export const currentView = z.strictObject({
  number: z.int(),
  status: z.enum(["applying", "deployed", "failed", "rolled_back"]),
  message: z.string(),
  digest: z.string().describe(
    "Digest of the release: equal while it means the same, and different in every stack.",
  ),
  repository: z.string(),
  reference: z.string(),
  revision: z.string(),
  created_at: timestamp,
  finished_at: timestamp.optional(),
  services: z.array(z.strictObject({ name: z.string(), digest: z.string() })),
  images: z.record(z.string(), z.string()).describe(
    "Content ids of its images, by service; `web/tool:1` is one that web needs beside its own.",
  ),
});

/** One decision in an answer; equal ones in a row are one. */
export const decisionView = z.strictObject({
  number: z.int().describe("Grows with every decision about any stack."),
  trigger: z.string().describe(
    "What led to it: webhook, poll, apply, retry, rollback, project, recovery, reconciliation.",
  ),
  origin: z.enum(["automatic", "manual"]),
  revision: z.string().describe("`reference (id)` that was looked at."),
  kind: z.enum(DECISION_KINDS),
  reason: z.string().optional().describe("Why it was skipped."),
  message: z.string(),
  changes: z.array(z.strictObject({ input: z.string(), from: z.string(), to: z.string() }))
    .describe("What differs from the release that is deployed: digests, or `absent`."),
  services: z.array(serviceView),
  outcome: z.strictObject({
    status: z.enum(["succeeded", "failed", "skipped"])
      .describe("skipped: given up before anything was changed."),
    message: z.string(),
    retry_at: timestamp.optional().describe("When what failed is tried again by itself."),
  })
    .optional().describe("How the attempt ended, once that is known."),
  times: z.int().describe("How many triggers led to it, one after the other."),
  first_at: timestamp,
  last_at: timestamp,
});

/** See {@link releaseView}. */
export type ReleaseView = z.output<typeof releaseView>;
type CurrentView = z.output<typeof currentView>;
/** See {@link decisionView}. */
export type DecisionView = z.output<typeof decisionView>;

/** Shows a release of a list. */
export function viewRelease(
  release: RecordedRelease,
  { current, owner }: {
    /** Id of the deployed release. */
    readonly current: string | undefined;
    readonly owner: StackOwner | undefined;
  },
  time: TimeFormat,
): ReleaseView {
  const { id, number, status, revision, createdAt, message } = release;
  const former = formerOwner(release, owner);
  return {
    number,
    current: id === current,
    status,
    revision: revision.id,
    reference: revision.reference,
    created_at: time(createdAt),
    message,
    ...(former && { former_owner: former }),
  };
}

/** How times and recorded digests are shown. */
export interface Shown {
  readonly time: TimeFormat;
  readonly digest: ShowDigest;
}

/** Shows the deployed release. */
export function viewCurrent(
  release: RecordedRelease,
  services: Release["services"],
  { time, digest: show }: Shown,
): CurrentView {
  const { number, status, message, digest, revision, createdAt, finishedAt, images } = release;
  return {
    number,
    status,
    message,
    digest: show(digest),
    repository: revision.source.name,
    reference: revision.reference,
    revision: revision.id,
    created_at: time(createdAt),
    ...(finishedAt === undefined ? {} : { finished_at: time(finishedAt) }),
    services: services.map(({ name, digest: service }) => ({ name, digest: show(service) })),
    images: { ...images },
  };
}

/** Shows a decision. */
export function viewDecision(
  { id, firstAt, lastAt, changes, services, outcome, code: _, ...decision }: RecordedDecision,
  { time, digest }: Shown,
): DecisionView {
  const shown = (value: string) => value === "absent" ? value : digest(value);
  return {
    number: id,
    ...decision,
    changes: changes.map(({ input, from, to }) => ({ input, from: shown(from), to: shown(to) })),
    services: viewServices(services),
    ...(outcome && { outcome: viewOutcome(outcome, time) }),
    first_at: time(firstAt),
    last_at: time(lastAt),
  };
}

function viewOutcome(
  { retryAt, ...outcome }: DecisionOutcome,
  time: TimeFormat,
): NonNullable<DecisionView["outcome"]> {
  return { ...outcome, ...(retryAt === undefined ? {} : { retry_at: time(new Date(retryAt)) }) };
}
