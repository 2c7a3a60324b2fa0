import { errors, formatStackKey, ownerFrom } from "../../model/mod.ts";
import type { Target } from "../../prepare/mod.ts";
import { handedOver, recordedOwner } from "../../record/mod.ts";
import type { RecordedOwner } from "../../record/owners.ts";
import { type Line, patiently, type Slot } from "../../system/mod.ts";
import { requireOwner } from "../destroy/require_owner.ts";
import type { PipelineParts } from "../parts.ts";
import { isStrangers, requireNotAnothers, wantedOwner } from "../stack_owner.ts";
import { type OwnersWork, waitForProcess, whileOwned } from "../waits.ts";
import { claimOf } from "./claim.ts";

/**
 * Takes the lock of a target's stack and does its work, for as long as {@link whileOwned} does. Former
 * owners' work on the stack, by whichever context of its engine, ends meanwhile. A stranger is
 * refused before it has the lock, and once more when it has it: how long its work waits there for a slot is up
 * to its own source, and the owner and persons would wait as long. `before` comes before the lock, but not for
 * a stranger. Other sources' work is waited for half a minute in all: their authors decide how long it takes,
 * also where nobody owns the stack yet.
 *
 * Throws `conflict` to a stranger and after that wait, {@link OVERTAKEN}, and what the work throws.
 */
export async function lockedForTarget<T>(
  parts: PipelineParts,
  target: Target,
  { before, work, line }: {
    readonly before: (within: AbortSignal) => Promise<unknown>;
    /** It may lend the stack by its slot while it only prepares. */
    readonly work: (...its: [...Parameters<OwnersWork<T>>, lock: Slot]) => Promise<T>;
    /** That of the runs that do the same. */
    readonly line?: Line;
  },
  signal: AbortSignal,
): Promise<T> {
  const { ledger, stackLock } = parts;
  const { key } = target;
  const name = formatStackKey(key);
  const isOthers = isStrangers(parts, target);
  const wait = async (within: AbortSignal, enter: () => void) => {
    if (isOthers) await waitForProcess(parts, key, target.progress, within);
    else await before(within);
    return await stackLock.inTurn(
      name,
      (lock) => {
        enter();
        // Somebody may have become its owner during the wait. Before its first deployment a stack has none.
        const recorded = recordedOwner(ledger, key);
        refuseStranger(parts, target, recorded);
        const owners = [wantedOwner(target), recorded, recorded?.contested];
        const owned: OwnersWork<T> = (within, ask) => work(within, ask, lock);
        return whileOwned(parts, { keys: [key], owners }, owned, signal)
          .finally(() => parts.imagesAhead.delete(name));
      },
      within,
      { who: target.configuration.source.name, line },
    );
  };
  const locked = () => patiently(patienceOf(parts, target), wait, signal);
  if (!isOthers) {
    // A rollback keeps what runs from this commit: there is nobody to make room for.
    if (ledger.pins.get(key)?.revision === target.revision.id) return await locked();
    const beside = ledger.owners.beside(key).map(({ context }) => ({ ...key, context }));
    return await stackLock.ending([name, ...beside.map(formatStackKey)], locked);
  }
  // What is being destroyed may be nobody's in a moment.
  if (!ledger.isUnderWay(key, "destroy")) refuseStranger(parts, target);
  return await locked();
}

/** Refuses a target whose stack another owner has by the ledger, in the words of what it asks for. Throws `conflict`. */
function refuseStranger(parts: PipelineParts, target: Target, recorded?: RecordedOwner): void {
  if (!isStrangers(parts, target, recorded)) return;
  const { ledger } = parts;
  const { key, configuration, deployment } = target;
  if (deployment.destroy.enabled) {
    const owned = { parts: [], claim: claimOf(ledger, key), takes: true };
    requireOwner(key, ownerFrom(configuration), owned, "destroyed");
  }
  requireNotAnothers(parts, target);
}

/** Milliseconds that a target waits for work of other sources. */
const PATIENCE_MS = 30_000;

function patienceOf(parts: PipelineParts, target: Target): Parameters<typeof patiently>[0] {
  const { ledger, stackLock, clock, log } = parts;
  const { key, configuration: { source } } = target;
  const name = formatStackKey(key);
  const isOthers = () => {
    const holder = stackLock.holder(name);
    // What was handed over is being ended for this target.
    return isStrangers(parts, target) || holder !== undefined && holder !== source.name &&
        handedOver(ledger, key, [{ source: holder, reference: "" }]) === undefined;
  };
  let said = "";
  const look = () => {
    if (!stackLock.isBusy(name)) return;
    const whose = stackLock.holder(name) ?? recordedOwner(ledger, key)?.source ?? "a person";
    const text = `waiting for other work on ${key.name}, of ${whose}`;
    if (text === said) return;
    said = text;
    target.progress(text);
    if (isOthers()) log.info(text, { stack: key.name, context: key.context });
  };
  const late = () => {
    requireNotAnothers(parts, target);
    const first = recordedOwner(ledger, key) === undefined ? " for the first time" : "";
    return errors.conflict(
      `conflict: ${key.name} is being deployed${first} by ${stackLock.holder(name)}; nothing was ` +
        "changed for this deployment, and the next poll or webhook tries again. Two " +
        "configurations name this stack: rename it in one of them",
    );
  };
  return { clock, milliseconds: PATIENCE_MS, isOthers, look, late };
}
