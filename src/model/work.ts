import type { DeclaredDeployment } from "./deployment.ts";
import type { SourceKind } from "./revision.ts";
import type { StackKey } from "./stack_key.ts";

/** Triggers that start runs. */
export const TRIGGERS = ["webhook", "poll", "scheduled_job", "mirror_compaction"] as const;

/** One member of {@link TRIGGERS}. */
export type Trigger = (typeof TRIGGERS)[number];

/**
 * The origin of a piece of work. A manual one passes retry delays and `manual_sync` windows; an
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

/**
 * A text that requests for the same have in common, whatever they say of deployments. `repository`
 * stands for the URL where URLs that differ are known to mean one repository.
 */
export function requestKey(
  { kind, url, reference, target }: SourceRequest,
  repository = url,
): string {
  return JSON.stringify([kind, repository, reference, target]);
}

/**
 * What polls of one repository at one moment have in common: the first question to the remote serves
 * them all. They are of one round when they have the same object.
 */
export interface PollRound {
  /** Every reference that they ask for, and those that their deployments named before. */
  readonly references: readonly string[];
  /** Told of each reference that a deployment names: later rounds ask for it as well. */
  note(reference: string): void;
}

/** Facts that all work has: its trigger, and who is behind it. */
interface Started {
  readonly trigger: Trigger;
  readonly origin: Origin;
}

/** Look at these sources and make engines equal to them. */
export interface Sync extends Started {
  readonly kind: "sync";
  readonly sources: readonly SourceRequest[];
  /** The one stack that is meant; without it, all that the sources name. */
  readonly only?: StackKey;
  /** The round that the poll is of. */
  readonly round?: PollRound;
}

/** The wish of an authentic webhook: a run for each source, or a run that is over at once. */
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

/** Put a stack back to an earlier release, and keep it there. */
export interface Rollback extends Started {
  readonly kind: "rollback";
  readonly key: StackKey;
  /** Number of the release; without it, the good one before the current. */
  readonly release?: number;
  /** Why, in the words of whoever asks; may be empty. */
  readonly reason: string;
}

/** Bring back what is missing of the release that a stack has, whatever its source says by now. */
interface Restore extends Started {
  readonly kind: "restore";
  readonly key: StackKey;
  /** A sentence for people. */
  readonly because: string;
}

/** Finish what an ended process left open. */
interface Recovery extends Started {
  readonly kind: "recovery";
}

/** Run a service of a stack once, to its end. */
export interface RunJob extends Started {
  readonly kind: "job";
  readonly key: StackKey;
  readonly service: string;
  /** The container of a run that a process began which has ended: it is waited for instead. */
  readonly adopts?: string;
}

/** Ways to make a mirror smaller: by encoding every object anew, or by joining packs as they are. */
export const COMPACTION_MODES = ["repack", "copy"] as const;

type CompactionMode = (typeof COMPACTION_MODES)[number];

/** Make mirrors of Git repositories smaller. */
export interface Compaction extends Started {
  readonly kind: "compaction";
  /** Name of the repository whose mirrors they are; all when empty. */
  readonly repository: string;
  readonly mode: CompactionMode;
  /** Bytes of packs above which a mirror is not repacked; 0 for any number. */
  readonly maxBytes: number;
}

/** A piece of work that a trigger hands to the intake, which knows who performs each kind. */
export type Work = Sync | Rollback | Recovery | Restore | RunJob | Compaction;

/** Work of one kind. */
export type WorkOf<Kind extends Work["kind"]> = Extract<Work, { readonly kind: Kind }>;

/** True when a piece of work is about stacks that are known before any source was looked at. */
export function isOfStacks(work: Work): boolean {
  return work.kind === "recovery" || "key" in work || ("only" in work && work.only !== undefined);
}

/** The sources that a piece of work is about; none of what is about a stack. */
export function sourcesOf(work: Work): readonly SourceRequest[] {
  return "sources" in work ? work.sources : [];
}
