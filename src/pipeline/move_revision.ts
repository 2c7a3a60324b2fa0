import type { Revision } from "../model/mod.ts";
import type { Target } from "../prepare/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import { formerOwner, recordedOwner, withoutCredentials } from "../record/mod.ts";
import type { PipelineParts } from "./parts.ts";

/** Moves the recorded revisions on, so that the next run compares with the commits of this one. */
export function moveRevision(
  parts: PipelineParts,
  target: Target,
  recorded: RecordedRelease,
): void {
  const { revision, configuration, deployment } = target;
  const beside = deployment.repositoryUrl === "" ? undefined : configuration;
  // A stack that was handed over is its new owner's from now on, also where nothing changed for it.
  const now = withoutCredentials({ revision, ...(beside && { configuration: beside }) });
  const isSame = isSameCommit(recorded.revision, now.revision) &&
    isSameCommit(recorded.configuration, now.configuration) &&
    formerOwner(recorded, recordedOwner(parts.ledger, target.key)) === undefined;
  if (!isSame) parts.ledger.moveRevision(recorded, revision, beside);
}

/** True for one commit at one URL: its files are fetched from there when they are needed again. */
function isSameCommit(one: Revision | undefined, other: Revision | undefined): boolean {
  return one?.id === other?.id && one?.source.url === other?.source.url;
}
