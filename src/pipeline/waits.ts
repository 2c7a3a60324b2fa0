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
  atEnd,
  clearingUp,
  type Lend,
  preparingInSlot,
  sourceAsOwner,
  sourceOf,
  stackAsOwner,
  stackFields,
  withDeadline,
  within,
} from "../system/mod.ts";

/** Milliseconds between two looks at whether another process is done with a stack. */
const LOOK_MS = 250;

/** Waits for another process by `wait`, and until the secrets of what that process recorded are hidden. */
export async function waitForStack(
  parts: Pick<PipelineParts, "ledger" | "clock" | "log" | "mentioned" | "secrets">,
  key: StackKey,
  progress: Progress,
  signal: AbortSignal,
  wait: typeof outwaitProcess = outwaitProcess,
): Promise<void> {
  await wait(parts, key, progress, signal);
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
 * Waits until no other process is changing a stack: a command beside the service, or the other way round. A dead
 * one holds nothing; one that is suspended does for as long as it is: who waits so has a limit, or keeps nobody
 * waiting. Rejects with the signal's reason.
 */
export async function waitForProcess(
  { ledger, clock }: Pick<PipelineParts, "ledger" | "clock">,
  key: StackKey,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const since = clock.uptime();
  for (let holder = ledger.heldElsewhere(key); holder !== undefined;) {
    const waited = waitedText(since, clock.uptime());
    progress(`${WAITS_FOR_PROCESS} ${holder}, which is changing ${key.name}${waited}`);
    await clock.sleep(LOOK_MS, signal);
    holder = ledger.heldElsewhere(key);
  }
}

/** Milliseconds of a wait for another process after which the log tells of it. */
const SAID_MS = 60_000;
/** Milliseconds that a change takes at most besides its rollout, and the way back, of `timeout` each. */
const BESIDE_ROLLOUT_MS = 15 * 60_000;

/**
 * Waits as {@link waitForProcess} does, for who holds a stack's lock meanwhile, or a whole run: for as long as a
 * change may take. A change that takes longer is not waited for again. The log tells of a long wait.
 *
 * Throws `conflict` after that time.
 */
export async function outwaitProcess(
  parts: Pick<PipelineParts, "ledger" | "clock" | "log" | "mentioned">,
  key: StackKey,
  progress: Progress,
  signal: AbortSignal,
): Promise<void> {
  const { ledger, clock, log, mentioned } = parts;
  const holder = ledger.heldElsewhere(key);
  if (holder === undefined) return;
  const timeout = ledger.history(key, 1)[0]?.timeoutSeconds ?? 0;
  const milliseconds = BESIDE_ROLLOUT_MS + 2 * timeout * 1000;
  const advice = `if process ${holder} is suspended, let it go on (fg, kill -CONT), or end it`;
  const change = () => `${formatStackKey(key)} is being changed: ${ledger.mark(key)}`;
  const late = () => {
    mentioned.add(change());
    return errors.conflict(
      `process ${holder} is changing ${key.name}, and does not come to an end: nothing was done ` +
        `to it here; try again when that is done; ${advice}`,
    );
  };
  if (mentioned.has(change())) throw late();
  const since = clock.uptime();
  let isSaid = false;
  const tell = (text: string) => {
    progress(text);
    if (isSaid || clock.uptime() - since < SAID_MS) return;
    isSaid = true;
    log.warning(`${text}; ${advice}`, { stack: key.name, context: key.context });
  };
  const wait = (within: AbortSignal) => waitForProcess(parts, key, tell, within);
  await withDeadline({ clock, milliseconds, late }, wait, signal);
}

/** How often work is done again at once, and at most, where what it was decided by is changed by others. */
const ROUNDS = { atOnce: 3, most: 12 } as const;
/** Milliseconds before each round after these: the first, doubling, and the longest. */
const PAUSE_MS = { first: 250, longest: 10_000 } as const;

/**
 * Does work on a stack again for as long as it is `moved`: what it was decided by was changed by others. In
 * pauses that grow, and not for ever: an engine of another context may tell of something else at each look.
 *
 * Throws `conflict` after a minute of that, and what the work throws.
 */
export async function untilSettled<T>(
  { clock, log }: Pick<PipelineParts, "clock" | "log">,
  key: StackKey,
  work: (round: number) => Promise<T | "moved">,
  signal: AbortSignal,
): Promise<T> {
  for (let round = 0; round < ROUNDS.most; round++) {
    const doubled = PAUSE_MS.first * 2 ** (round - ROUNDS.atOnce);
    if (round >= ROUNDS.atOnce) await clock.sleep(Math.min(doubled, PAUSE_MS.longest), signal);
    if (round > 0) {
      log.info("a decision is outdated: deciding again", stackFields(stackAsOwner(key)));
    }
    const end = await work(round);
    if (end !== "moved") return end;
  }
  throw errors.conflict(
    `conflict: what runs of ${key.name}, or is recorded of it, was another each of the ${ROUNDS.most} times ` +
      "that it was looked at: nothing was done; the next poll or webhook tries again",
  );
}

/**
 * Takes locks in the order of their names, so that no jobs block each other; waits for all secrets, and
 * for other processes by `wait`.
 */
export async function locked<T>(
  parts: PipelineParts,
  keys: readonly StackKey[],
  work: () => Promise<T>,
  signal: AbortSignal,
  wait: typeof outwaitProcess = outwaitProcess,
): Promise<T> {
  const take = async ([first, ...rest]: readonly StackKey[]): Promise<T> => {
    if (first === undefined) {
      await learnedOfAll(parts, keys, signal);
      return await work();
    }
    return await parts.stackLock.run(formatStackKey(first), async () => {
      await wait(parts, first, () => {}, signal);
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
  // What ends in the middle, as on a full disk or with a person's request, is finished by the next look.
  using _ = atEnd(() => parts.ledger.leave(intent));
  await requireNotOwnProject(parts.host, intent.key, signal).catch((error) => {
    if (isStackwrightError(error, "conflict")) {
      parts.ledger.fail(intent, "failed", messageOf(error));
    }
    throw error;
  });
  return await untilHandedOver(parts, intent, work, signal);
}

/** Does work on an intent as {@link whileOwned} does; closes it where the stack was handed over. */
async function untilHandedOver<T>(
  parts: Pick<PipelineParts, "ledger" | "stackLock" | "clock" | "host">,
  intent: Intent,
  work: OwnersWork<T>,
  signal: AbortSignal,
): Promise<T> {
  const { ledger } = parts;
  const { key } = intent;
  const release = ledger.release(intent.releaseId);
  const owners = [ownerOfIntent(ledger, intent)];
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
    if (ledger.isStillOpen(intent)) ledger.fail(intent, "failed", over.message);
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
      source: lendingSource(source, lend, sourceOf(holder)),
      host: { ...host, images, compose: host.compose.lending(lend, who) },
    });
  };
  return await preparingInSlot(parts, holder, lending, signal);
}
