import {
  formerOwner,
  type InputChange,
  type ObservedStack,
  type Revision,
} from "../../model/mod.ts";
import type { PreparedRelease, Target } from "../../prepare/mod.ts";
import { recordedOwner, type RecordedRelease, withoutCredentials } from "../../record/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** What a rendered target is compared with. */
export interface Found {
  readonly recorded: RecordedRelease | undefined;
  readonly observed: ObservedStack;
  /** The ledger's mark of the stack before anything was decided. */
  readonly mark: string;
  /** Changes since the recorded release; `undefined` where only rendering tells. */
  readonly changes: readonly InputChange[] | undefined;
}

/** Moves the recorded revisions on, so that the next run compares with the commits of this one. */
export function moveRevision(
  parts: PipelineParts,
  target: Target,
  recorded: RecordedRelease,
  mark: string,
): void {
  const { revision, configuration, deployment } = target;
  const beside = deployment.repositoryUrl === "" ? undefined : configuration;
  // A stack that was handed over is its new owner's from now on, also where nothing changed for it.
  const now = withoutCredentials({ revision, ...(beside && { configuration: beside }) });
  const isSame = isSameCommit(recorded.revision, now.revision) &&
    isSameCommit(recorded.configuration, now.configuration) &&
    formerOwner(recorded, recordedOwner(parts.ledger, target.key)) === undefined;
  const to = { revision, ...(beside && { configuration: beside }) };
  if (!isSame) parts.ledger.moveRevision(recorded, to, mark);
}

/** True for one commit at one URL: its files are fetched from there when they are needed again. */
function isSameCommit(one: Revision | undefined, other: Revision | undefined): boolean {
  return one?.id === other?.id && one?.source.url === other?.source.url;
}

/** Records the newest inputs of a running release, so that the next run need not render it. */
export function remember(
  parts: PipelineParts,
  { release }: PreparedRelease,
  { recorded, observed, mark }: Found,
): void {
  if (recorded !== undefined) return parts.ledger.refresh(recorded, release, mark);
  if (observed.containers.length === 0) return;
  // The ledger was lost, but the containers carry the digests of this very release.
  const images = Object.fromEntries(
    observed.containers.map((each) => [each.service, each.imageId]),
  );
  const intent = parts.ledger.beginDecided(release, mark);
  if (intent !== undefined) parts.ledger.succeed(intent, images, "found running");
}
