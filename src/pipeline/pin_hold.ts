import { shortId } from "../model/mod.ts";
import type { Pin } from "../record/mod.ts";
import {
  changesSince,
  contentIds,
  prepareRelease,
  type ResolvedTarget,
  resolveSecrets,
  type Target,
} from "../prepare/mod.ts";
import { type Hold, pausedHold } from "./hold.ts";
import type { PipelineParts } from "./parts.ts";

/**
 * What holds a stack back that a person put back to an earlier release: the pin, against the commit
 * it was put back from and every other that means the same to the stack, whoever asks for it. A
 * commit with other inputs ends the pin, and so does `stackwright unpin`.
 *
 * Throws what rendering such a commit throws.
 */
export async function pinHold(
  parts: PipelineParts,
  target: Target,
  signal: AbortSignal,
): Promise<Hold | undefined> {
  const { key, revision } = target;
  const pin = parts.ledger.pins.get(key);
  if (pin === undefined) return undefined;
  if (pin.revision !== revision.id) {
    const same = await samePin(parts, target, pin, signal);
    if (same === undefined) {
      parts.ledger.pins.remove(key);
      return undefined;
    }
    // The next look at this commit is a cheap one.
    parts.ledger.pins.set(key, same);
  }
  const kept = parts.ledger.release(pin.releaseId);
  const release = kept === undefined ? "an earlier release" : `release ${kept.number}`;
  return pausedHold(
    `rolled back to ${release}; ${shortId(revision.id)} is not deployed again, ` +
      `a commit with other inputs is, or this one after stackwright unpin ${key.name}`,
  );
}

/** The pin moved to the target's revision where that means the same, else `undefined`. */
async function samePin(
  parts: PipelineParts,
  target: Target,
  pin: Pin,
  signal: AbortSignal,
): Promise<Pin | undefined> {
  const revision = target.revision.id;
  const resolved = await resolveSecrets(parts, target, signal);
  const { refused } = pin;
  const changes = refused && await changesSince(parts, resolved, refused.closure, signal);
  if (changes?.length === 0) return { ...pin, revision };
  const { digest, closure } = (await prepareRelease(parts, resolved, signal)).release;
  const isSame = refused === undefined
    ? closure.complete && await isSameAt(parts, resolved, pin.revision, closure.paths, signal)
    : refused.digest === digest;
  return isSame ? { ...pin, revision, refused: { digest, closure } } : undefined;
}

/** Whether everything that a release was rendered from is the same at another commit. */
async function isSameAt(
  { source }: PipelineParts,
  { revision }: ResolvedTarget,
  other: string,
  paths: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<boolean> {
  const then = await contentIds(source, { ...revision, id: other }, Object.keys(paths), signal);
  return Object.entries(paths).every(([path, id]) => then.get(path) === id);
}
