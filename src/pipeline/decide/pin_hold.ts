import { formatStackArguments, isStackwrightError, shortId } from "../../model/mod.ts";
import { type Hold, pausedHold } from "../../plan/mod.ts";
import {
  changesSince,
  contentIds,
  isSuperseded,
  prepareRelease,
  type ResolvedTarget,
  resolveSecrets,
  type Target,
} from "../../prepare/mod.ts";
import type { Pin } from "../../record/mod.ts";
import type { PipelineParts } from "../parts.ts";

/**
 * The hold of a stack that a person rolled back: the pin. It holds back the commit that the stack
 * was rolled back from and every commit with the same inputs, whoever asks for it. A commit with
 * other inputs ends the pin, and so does `stackwright unpin`.
 *
 * Throws what rendering such a commit throws.
 */
export async function pinHold(
  parts: PipelineParts,
  target: Target,
  signal: AbortSignal,
): Promise<Hold | undefined> {
  const { key, revision } = target;
  const { pins } = parts.ledger;
  const pin = pins.get(key);
  if (pin === undefined) return undefined;
  const mark = pins.mark(key);
  // A person may have rolled back, or unpinned, during a look that takes long: that one is asked then.
  const replace = (now: Pin | undefined) => pins.replace(key, mark, now);
  if (pin.revision !== revision.id) {
    const same = await samePin(parts, target, pin, signal);
    if (same === undefined) {
      const current = parts.ledger.current(key);
      // A late webhook or a reset branch brings an older commit, which must not end the pin.
      const isLate = current !== undefined && await isSuperseded(parts, target, current, signal);
      return isLate || replace(undefined) ? undefined : await pinHold(parts, target, signal);
    }
    // Recorded, so that the next look at this commit need not compare again.
    if (!replace(same)) return await pinHold(parts, target, signal);
  }
  const kept = parts.ledger.release(pin.releaseId);
  const told = pin.reason === undefined ? "" : ` (${pin.reason})`;
  const release = `${kept === undefined ? "an earlier release" : `release ${kept.number}`}${told}`;
  return pausedHold(
    `rolled back to ${release}; ${shortId(revision.id)} is not deployed again, a commit with ` +
      `other inputs is, or this one after stackwright unpin ${formatStackArguments(key)}`,
    "rolled back",
  );
}

/** The pin, moved to the target's revision where its inputs are the same; else `undefined`. */
async function samePin(parts: PipelineParts, target: Target, pin: Pin, signal: AbortSignal) {
  const revision = target.revision.id;
  const resolved = await resolveSecrets(parts, target, signal);
  const { refused } = pin;
  const changes = refused && await changesSince(parts, resolved, refused.closure, signal);
  if (changes?.length === 0) return { ...pin, revision };
  const { digest, closure } = (await prepareRelease(parts, resolved, signal)).release;
  const isSame = refused === undefined
    ? closure.complete && await isSameAt(parts, resolved, pin, closure.paths, signal)
    : refused.digest === digest;
  return isSame ? { ...pin, revision, refused: { digest, closure } } : undefined;
}

/**
 * True when everything that a release was rendered from is the same at the pin's commit. False where
 * the stack was handed over since, and its new repository does not have that commit.
 */
async function isSameAt(
  { source, ledger }: PipelineParts,
  { revision }: ResolvedTarget,
  { releaseId, revision: id }: Pin,
  paths: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const then = await contentIds(source, { ...revision, id }, Object.keys(paths), signal);
    return Object.entries(paths).every(([path, identity]) => then.get(path) === identity);
  } catch (error) {
    const from = ledger.release(releaseId)?.revision.source.name;
    if (from === revision.source.name || !isStackwrightError(error, "reference_not_found")) {
      throw error;
    }
    return false;
  }
}
