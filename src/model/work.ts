import type { DeclaredDeployment } from "./deployment.ts";
import type { SourceKind } from "./revision.ts";
import type { StackKey } from "./stack_key.ts";

/** Triggers that start runs. */
export const TRIGGERS = ["webhook", "poll", "scheduled_job", "mirror_compaction"] as const;

/** One member of {@link TRIGGERS}. */
export type Trigger = (typeof TRIGGERS)[number];

/** Who is behind work: `manual` passes retry delays and `manual_sync` windows, `automatic` never does. */
export type Origin = "automatic" | "manual";

/** One source to deploy from, as a poll entry or a webhook names it. */
export interface SourceRequest {
  readonly kind: SourceKind;
  /** Git clone URL, `file://` URL or absolute path; may hold credentials. */
  readonly url: string;
  /** Name of the repository that `url` mirrors, if it is a mirror; else the URL's own. */
  readonly identity?: string;
  /** Full or short reference or commit id. */
  readonly reference: string;
  /** Configuration target; empty for the default file. */
  readonly target: string;
  /** Inline configurations; when there are any, the repository's file is not read by default. */
  readonly deployments: readonly DeclaredDeployment[];
  /** Whether the repository's file is read beside inline configurations. */
  readonly withFiles?: boolean;
}

/** A key that requests of one source, reference and target share; `repository` replaces the URL. */
export function requestKey(
  { kind, url, reference, target }: SourceRequest,
  repository = url,
): string {
  return JSON.stringify([kind, repository, reference, target]);
}

/** Shared by polls of one repository at one moment: the first question to the remote serves all. */
export interface PollRound {
  /** References to ask for: those of the polls, and those that their deployments named before. */
  readonly references: readonly string[];
  /** Records a reference that a deployment names: later rounds ask for it as well. */
  note(reference: string): void;
}

/** Facts of all work: its trigger, and who is behind it. */
interface Started {
  readonly trigger: Trigger;
  readonly origin: Origin;
}

/** Makes engines equal to sources. */
export interface Sync extends Started {
  readonly kind: "sync";
  readonly sources: readonly SourceRequest[];
  /** The only stack to deploy; by default, all that the sources name. */
  readonly only?: StackKey;
  readonly round?: PollRound;
  /** What a person asked for, where that was no poll: decisions name it as their trigger. */
  readonly asked?: "apply" | "retry";
}

/** What an authentic webhook asks for: a run for each source, or a run that is skipped at once. */
export type WebhookDelivery =
  | Pick<Sync, "sources"> & { readonly kind: "deploy" }
  | {
    readonly kind: "skip";
    /** Name of the repository for people; may be empty. */
    readonly repository: string;
    /** Configuration target; empty for the default file. */
    readonly target: string;
    readonly message: string;
  };

/** Puts a stack back to an earlier release, and keeps it there. */
export interface Rollback extends Started {
  readonly kind: "rollback";
  readonly key: StackKey;
  /** Number of the release; by default, the good one before the current. */
  readonly release?: number;
  /** Reason given by the person; may be empty. */
  readonly reason: string;
}

/** Finishes intents that an ended process left open. */
interface Recovery extends Started {
  readonly kind: "recovery";
}

/** Runs a service of a stack once, to its end. */
export interface RunJob extends Started {
  readonly kind: "job";
  readonly key: StackKey;
  readonly service: string;
  /** Container of a run that an ended process began: it is waited for instead of starting one. */
  readonly adopts?: string;
}

/** Ways to make a mirror smaller: repacking all objects, or joining packs as they are. */
export const COMPACTION_MODES = ["repack", "copy"] as const;

type CompactionMode = (typeof COMPACTION_MODES)[number];

/** Makes mirrors of Git repositories smaller. */
export interface Compaction extends Started {
  readonly kind: "compaction";
  /** Name of the repository with the mirrors; empty for all. */
  readonly repository: string;
  readonly mode: CompactionMode;
  /** Bytes of packs above which a mirror is not repacked; 0 for no limit. */
  readonly maxBytes: number;
}

/** A piece of work that a trigger submits to the intake. */
export type Work = Sync | Rollback | Recovery | RunJob | Compaction;

/** Work of one kind. */
export type WorkOf<Kind extends Work["kind"]> = Extract<Work, { readonly kind: Kind }>;

/** True for work about stacks that are known before any source is read. */
export function isOfStacks(work: Work): boolean {
  return work.kind === "recovery" || "key" in work || ("only" in work && work.only !== undefined);
}

/** The sources of a piece of work; none for work about one stack. */
export function sourcesOf(work: Work): readonly SourceRequest[] {
  return "sources" in work ? work.sources : [];
}
