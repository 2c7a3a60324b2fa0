import { clearHalfReplaced } from "../deploy/mod.ts";
import {
  errors,
  formatStackKey,
  isStackwrightError,
  messageOf,
  type Progress,
  type StackKey,
  type StackOwner,
  waitedText,
  WAITS_FOR_PROCESS,
} from "../model/mod.ts";
import type { PipelineParts } from "./parts.ts";
import type { Intent } from "../record/ledger.ts";
import { handedOver, ownerOfIntent, recordedOwner } from "../record/mod.ts";
import { lendingImages, requireNotOwnProject } from "../prepare/mod.ts";
import { lendingSource } from "../source/mod.ts";
import {
  allInTurns,
  clearingUp,
  type Lend,
  preparingInSlot,
  sourceAsOwner,
  sourceOf,
  stackAsOwner,
  within,
} from "../system/mod.ts";

/** Milliseconds between two looks at whether another process is done with a stack. */
const LOOK_MS = 250;

/** Waits until no other process changes a stack, and the secrets of what it recorded are hidden. */
export async function waitForStack(
  parts: Pick<PipelineParts, "ledger" | "clock" | "secrets">,
  key: StackKey,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  await waitForProcess(parts, key, progress, signal);
  await parts.secrets.learned(stackAsOwner(key), signal);
}

/** Milliseconds that a person's request waits for secrets to be known. */
const PERSON_WAITS_MS = 10_000;

/**
 * Waits a short time for the secrets of a stack, for a person who asked for something. Where they are not
 * known then, the request goes on: what is told of it is `***`. Rejects with the signal's reason.
 */
export async function learnedSoon(
  { secrets, clock, log }: Pick<PipelineParts, "secrets" | "clock" | "log">,
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  const learned = secrets.learned(stackAsOwner(key), signal);
  if (await within(learned, PERSON_WAITS_MS, clock, signal)) return;
  log.warning(
    `not all secrets of ${key.name} (context ${key.context}) are read yet: what a person asks of it ` +
      "goes on, and what is told and recorded of that is shown as ***",
  );
}

/**
 * Waits until no other process is changing a stack: a command beside the service, or the other way
 * round. The wait ends: another process has a time limit of its own, and a dead one holds nothing.
 * Rejects with the signal's reason.
 */
export async function waitForProcess(
  { ledger, clock }: Pick<PipelineParts, "ledger" | "clock">,
  key: StackKey,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const since = clock.now();
  for (let holder = ledger.heldElsewhere(key); holder !== undefined;) {
    const waited = waitedText(since, clock.now());
    progress(`${WAITS_FOR_PROCESS} ${holder}, which is changing ${key.name}${waited}`);
    await clock.sleep(LOOK_MS, signal);
    holder = ledger.heldElsewhere(key);
  }
}

/** Takes locks in the order of their names, so that no jobs block each other; waits for all secrets. */
export async function locked<T>(
  parts: PipelineParts,
  keys: readonly StackKey[],
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const take = async ([first, ...rest]: readonly StackKey[]): Promise<T> => {
    if (first === undefined) {
      await learnedOfAll(parts, keys, signal);
      return await work();
    }
    return await parts.stackLock.run(formatStackKey(first), async () => {
      await waitForProcess(parts, first, () => {}, signal);
      return await take(rest);
    }, signal);
  };
  return await take(keys);
}

/** Waits for the secrets of stacks side by side: each may take minutes. */
export async function learnedOfAll(
  { secrets }: Pick<PipelineParts, "secrets">,
  keys: readonly StackKey[],
  signal: AbortSignal,
): Promise<void> {
  await allInTurns(keys, (key) => secrets.learned(stackAsOwner(key), signal));
}

/** Work for owners of stacks: it gets its signal, and a function that aborts that if it is over. */
export type OwnersWork<T> = (within: AbortSignal, ask: () => void) => Promise<T>;

/** Milliseconds for clearing up after what was ended: the new owner waits. */
const CLEANUP_MS = 60_000;

/**
 * Does work in the name of `owners` until one of the stacks is handed over to another one: it ends
 * when that one's deployment comes (`lockedForTarget`), or when it asks itself.
 *
 * Throws `conflict` when it was ended, and what it throws.
 */
export function whileOwned<T>(
  { ledger, stackLock }: Pick<PipelineParts, "ledger" | "stackLock">,
  { keys, owners }: {
    readonly keys: readonly StackKey[];
    readonly owners: readonly (StackOwner | undefined)[];
  },
  work: OwnersWork<T>,
  signal: AbortSignal,
): Promise<T> {
  const isOver = () => keys.map((key) => handedOver(ledger, key, owners)).find(Boolean);
  return stackLock.endable({ keys: keys.map(formatStackKey), isOver, work }, signal);
}

/**
 * Does work on a stack as {@link whileOwned} does, in the name of whoever has it now. All that holds a
 * stack's lock and changes or prepares something goes through here, or through what knows the owner better.
 */
export function asItsOwner<T>(
  parts: Pick<PipelineParts, "ledger" | "stackLock">,
  key: StackKey,
  work: OwnersWork<T>,
  signal: AbortSignal,
): Promise<T> {
  const owner = recordedOwner(parts.ledger, key);
  return whileOwned(parts, { keys: [key], owners: [owner, owner?.contested] }, work, signal);
}

/** Whether an intent of this process, or of one that has ended, is not closed yet. */
export function isOpen(
  ledger: Pick<PipelineParts["ledger"], "openIntents">,
  intent: Pick<Intent, "id">,
): boolean {
  return ledger.openIntents().some(({ id }) => id === intent.id);
}

/**
 * Carries an intent out as {@link whileOwned} does, in the name of {@link ownerOfIntent}. Closes it
 * where the stack was handed over: nobody may resume it, and what is there is the new owner's. The
 * same where it is the project that this process runs in, which throws `conflict` as well.
 */
export async function whileIntended<T>(
  parts: Pick<PipelineParts, "ledger" | "stackLock" | "clock" | "host">,
  intent: Intent,
  work: OwnersWork<T>,
  signal: AbortSignal,
): Promise<T> {
  const { ledger } = parts;
  const { key } = intent;
  const release = ledger.release(intent.releaseId);
  const owners = [ownerOfIntent(ledger, intent)];
  await requireNotOwnProject(parts.host, key, signal).catch((error) => {
    if (isStackwrightError(error, "conflict")) ledger.fail(intent, "failed", messageOf(error));
    throw error;
  });
  try {
    return await whileOwned(parts, { keys: [key], owners }, work, signal);
  } catch (error) {
    const over = handedOver(ledger, key, owners);
    if (over === undefined) throw error;
    const mayWait = !signal.aborted || isStackwrightError(signal.reason, "conflict");
    if (mayWait && release !== undefined && release.swarm === undefined) {
      // No half of a replacement is left to the new owner, whose plan begins with what runs.
      const clear = (within: AbortSignal) => clearHalfReplaced(parts.host.engine, key, within);
      await clearingUp(parts.clock, CLEANUP_MS, clear);
    }
    // What is recorded as deployed stays so: only the tidying up after it was ended.
    if (isOpen(ledger, intent)) ledger.fail(intent, "failed", over.message);
    throw error;
  }
}

/**
 * Runs work that only reads and prepares when a slot for that is free. Its `parts` give the slot
 * back during long waits for source, images and secrets: their authors decide how long URLs,
 * references and Dockerfiles take.
 */
export async function preparing<T>(
  parts: PipelineParts,
  holder: Parameters<typeof preparingInSlot>[1],
  work: (parts: PipelineParts) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { source, host } = parts;
  const who = sourceAsOwner(sourceOf(holder));
  const lending = (lend: Lend) => {
    const images = lendingImages(host.images, lend);
    return work({
      ...parts,
      lend,
      turns: parts.turns.by(who),
      source: lendingSource(source, lend),
      host: { ...host, images, compose: host.compose.lending(lend, who) },
    });
  };
  return await preparingInSlot(parts, holder, lending, signal);
}
