import type { DeclaredDeployment } from "./deployment.ts";
import type { SourceKind } from "./revision.ts";

/** What started a run. */
export const TRIGGERS = ["webhook", "poll", "scheduled_job", "mirror_compaction"] as const;

/** One member of {@link TRIGGERS}. */
export type Trigger = (typeof TRIGGERS)[number];

/**
 * Who is behind a piece of work. A manual one passes retry delays and `manual_sync` windows; an
 * automatic one never does.
 */
export type Origin = "automatic" | "manual";

/** One source to look at, as a poll entry or a webhook names it. */
export interface SourceRequest {
  readonly kind: SourceKind;
  /** Git clone URL, `file://` URL or absolute path; may hold credentials. */
  readonly url: string;
  /** Name of the repository that `url` is a copy of, where it is one; else the URL's own name. */
  readonly identity?: string;
  /** Full or short reference or commit id. */
  readonly reference: string;
  /** Configuration target; empty for the default file. */
  readonly target: string;
  /** Inline configurations; when there are any, the repository's file is not read. */
  readonly deployments: readonly DeclaredDeployment[];
}

/** What a trigger hands to the intake: look at these sources and make engines equal to them. */
export interface Work {
  readonly trigger: Trigger;
  readonly origin: Origin;
  readonly sources: readonly SourceRequest[];
}
