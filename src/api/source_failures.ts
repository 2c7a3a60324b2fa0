import * as z from "zod";
import { clip, filled, type SourceFailure } from "../model/mod.ts";
import type { TimeFormat } from "../system/mod.ts";
import { timestamp } from "./stack_parts.ts";

/** A source that cannot be read, in an answer. */
export const sourceFailureView = z.strictObject({
  repository: z.string(),
  reference: z.string().describe("As the poll or the webhook names it."),
  target: z.string().describe("Configuration target; empty for the default file."),
  since: timestamp.describe("When it could not be read for the first time, since it last was."),
  tried_at: timestamp.describe("When it was last tried."),
  why: z.string().describe("Without secrets; the run has all of it."),
  retry_at: timestamp.optional().describe("When it is polled next, at the latest."),
});

/** See {@link sourceFailureView}. */
export type SourceFailureView = z.output<typeof sourceFailureView>;

const MOST_WHY = 300;

/** Shows a source that cannot be read. */
export function viewSourceFailure(failure: SourceFailure, time: TimeFormat): SourceFailureView {
  const { repository, reference, target, since, lastAt, message, retryAt } = failure;
  const why = clip(message, MOST_WHY);
  return {
    ...{ repository, reference, target, since: time(since), tried_at: time(lastAt), why },
    ...filled({ retry_at: retryAt && time(retryAt) }),
  };
}
