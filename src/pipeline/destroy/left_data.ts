import { dataText, type RemovedData } from "../../deploy/mod.ts";
import {
  formatStackKey,
  ownerFrom,
  type Revision,
  type StackKey,
  type TargetListener,
} from "../../model/mod.ts";
import { otherOwner, recordedOwner } from "../../record/mod.ts";
import { allInTurns, deploying } from "../../system/mod.ts";
import type { Teller } from "../../tell/mod.ts";
import { destroyTarget, keptData } from "../destroy_target.ts";
import type { OpenedSource } from "../open_source.ts";
import { partsFor, type PipelineParts } from "../parts.ts";
import { overtakenBy } from "./is_newer.ts";
import { mayGoOn, type Removal, toRemove } from "./obsolete_removal.ts";

/** A stack that was removed but for its data, which goes after the other stacks of the run were deployed. */
export interface LeftData {
  readonly run: Pick<OpenedSource, "configuration">;
  readonly removal: Removal;
  readonly teller: Teller;
  readonly because: string;
  /** The revisions by which the run found that nothing names it. */
  readonly looked: readonly Revision[];
  /** The ledger's mark of the stack once it was removed. */
  readonly since: string;
}

/**
 * Deletes the data of removed stacks after the other ones of the run had their turn, and tells how each removal
 * ended. A stack that goes on with a volume of a removed one says so in its release, and that is known only now.
 * Where one is not deployed as the run wants it (`isDeployed`), the data stays: it may be the one that goes on with
 * it.
 */
export async function deleteLeftData(
  parts: PipelineParts,
  left: readonly LeftData[],
  isDeployed: (key: StackKey) => boolean,
  signal: AbortSignal,
): Promise<void> {
  await allInTurns(left, async (each) => {
    const { removal: { stack: { key } }, because, teller } = each;
    try {
      const message = `removed: ${because}${
        dataText("deleted", await deleteData(parts, each, isDeployed, signal))
      }`;
      teller.tell({ kind: "ended", end: { status: "succeeded", message } });
    } catch (thrown) {
      // What is remembered again is removed with its data by the next run that does not name it.
      const other = otherOwner(
        recordedOwner(parts.ledger, key),
        ownerFrom(each.run.configuration),
      );
      const isForgotten = parts.ledger.discovered.get(key) === undefined;
      if (other === undefined && isForgotten) {
        parts.ledger.discovered.set({ ...each.removal.stack, isLeft: true });
      }
      teller.fail(
        `deleting the data of ${key.name}, whose containers were removed`,
        thrown,
        signal,
      );
    }
  });
}

async function deleteData(
  anyParts: PipelineParts,
  { run: { configuration }, removal, since, looked }: LeftData,
  isDeployed: (key: StackKey) => boolean,
  signal: AbortSignal,
): Promise<RemovedData> {
  const { stack: found, stack: { key }, deletes, keepsData, goesAfter } = removal;
  const all = (why: string): RemovedData => ({
    deleted: [],
    kept: [deletes ? keptData(keepsData ?? why) : `its images: ${why}`],
  });
  if (signal.aborted) return all("the run ended before the other stacks were deployed");
  const others = goesAfter.filter((each) => !isDeployed(each));
  if (others.length > 0) return all(mayGoOn(others, "as this commit has it"));
  const by = ownerFrom(configuration);
  const decided = { by, found, what: toRemove(removal), since, isLeft: true };
  const parts = await partsFor(anyParts, key, signal);
  const data = await parts.stackLock.run(formatStackKey(key), async () => {
    const work = async () => {
      // The lock and the slot are waited for: what a newer commit says is asked after that.
      const newer = await overtakenBy(parts, looked, signal);
      return newer?.message ?? await destroyTarget(parts, key, decided, signal);
    };
    return await deploying(parts, { ...found, configuration }, work, signal);
  }, signal);
  if (data === "moved" || data === undefined) return all("it was changed meanwhile");
  if (typeof data === "string") return all(data);
  return keepsData === undefined ? data : { ...data, kept: [...data.kept, keptData(keepsData)] };
}

/** Keeps the keys of a run's targets that are deployed as it wants them, by how they ended. */
export function deployedListener(deployed: Set<string>): TargetListener {
  return ({ key }) => {
    const name = formatStackKey(key);
    let isUnchanged = false;
    return (news) => {
      if (news.kind === "pending") deployed.delete(name);
      if (news.kind === "decided") isUnchanged = news.decision.reason === "no_changes";
      if (news.kind !== "ended") return;
      const { status } = news.end;
      if (status === "succeeded" || (status === "skipped" && isUnchanged)) deployed.add(name);
    };
  };
}

/** Whether the release of a stack that runs is of revisions that a run has looked at, where it deploys nothing. */
export function isReleaseOf(
  { ledger }: Pick<PipelineParts, "ledger">,
  key: StackKey,
  looked: readonly Revision[],
): boolean {
  const release = ledger.current(key);
  if (release === undefined) return false;
  const { revision, configuration = revision } = release;
  const isLooked = ({ source, id }: Revision) =>
    looked.some((each) => each.source.name === source.name && each.id === id);
  return isLooked(revision) && isLooked(configuration);
}
