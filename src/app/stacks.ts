import {
  formatOwner,
  ownerFrom,
  type Progress,
  type StackKey,
  type StackOwner,
  StackwrightError,
} from "../model/mod.ts";
import { recordedOwner, rollBack, type RollbackResult } from "../pipeline/mod.ts";
import { shownModel } from "../prepare/mod.ts";
import type { FailureRecord, Pin, RecordedDecision, RecordedRelease } from "../record/mod.ts";
import { sourceLocation } from "../source/mod.ts";
import type { Assembly } from "./assemble.ts";

/** What is known about why a stack is as it is. */
export interface Explanation {
  readonly current: RecordedRelease | undefined;
  /** Newest first. */
  readonly decisions: readonly RecordedDecision[];
  readonly failure: FailureRecord | undefined;
  readonly pin: Pin | undefined;
  /** The release that a person put back, as `history` numbers it, while it is pinned and known. */
  readonly pinned: RecordedRelease | undefined;
}

/** Why a stack is as it is. Throws `not_found` when nothing was ever decided about it. */
export function explainStack({ ledger }: Assembly, key: StackKey, limit: number): Explanation {
  const decisions = ledger.decisions.of(key, limit);
  const current = ledger.current(key);
  if (decisions.length === 0 && current === undefined) throw unknownStack(key);
  const pin = ledger.pins.get(key);
  const pinned = pin === undefined ? undefined : ledger.release(pin.releaseId);
  return { current, decisions, failure: ledger.failures.get(key), pin, pinned };
}

/** The releases of a stack, newest first. Throws `not_found` when there is none. */
export function stackHistory(
  { ledger }: Assembly,
  key: StackKey,
  limit: number,
): RecordedRelease[] {
  const history = ledger.history(key, limit);
  if (history.length === 0) throw unknownStack(key);
  return history;
}

/** The masked models of two releases of a stack, for a diff. Throws `not_found`. */
export async function releaseModels(
  assembly: Assembly,
  key: StackKey,
  numbers: readonly [number, number],
  signal: AbortSignal,
): Promise<readonly [string, string]> {
  const parts = await assembly.pipelineParts(signal);
  const history = stackHistory(assembly, key, Number.MAX_SAFE_INTEGER);
  const text = (number: number) => {
    const found = history.find((each) => each.number === number);
    if (found === undefined) {
      throw new StackwrightError("not_found", `${key.name} has no release ${number}`);
    }
    return shownModel(parts, parts.ledger.open(found));
  };
  return [text(numbers[0]), text(numbers[1])];
}

/** Puts a stack back to an earlier release and pins it; see the pipeline's `rollBack`. */
export async function rollBackStack(
  assembly: Assembly,
  key: StackKey,
  wanted: { readonly number: number | undefined; readonly progress: Progress },
  signal: AbortSignal,
): Promise<RollbackResult> {
  return await rollBack(await assembly.pipelineParts(signal), key, wanted, signal);
}

/**
 * Lets automatic updates happen again. Returns false when they were not held back. Throws
 * `not_found` when nothing is recorded about the stack: its name is hardly right.
 */
export function unpinStack(assembly: Assembly, key: StackKey): boolean {
  if (assembly.ledger.pins.remove(key)) return true;
  explainStack(assembly, key, 1);
  return false;
}

/** How a stack changed hands. */
export interface Adoption {
  readonly owner: StackOwner;
  /** Whose it was; absent when that was not known. */
  readonly before?: StackOwner;
}

/**
 * Hands a stack to another source or branch, whose next deployment takes over its containers, volumes
 * and files. `source` is a URL or a name such as `github.com/me/shop`; without it, the one that was
 * refused is meant. The owner before is refused from then on.
 *
 * Throws `bad_request` for a source that is none, `not_found` when nobody was refused, `conflict` when
 * several were.
 */
export function adoptStack(
  { ledger }: Assembly,
  key: StackKey,
  { source, reference }: { readonly source: string; readonly reference: string },
): Adoption {
  const before = recordedOwner(ledger, key);
  const owner = source === ""
    ? refusedOwner(ledger.owners.refused(key), key, reference)
    : ownerFrom({ source: namedSource(source), reference: inFull(reference), id: "" });
  ledger.owners.adopt(key, owner);
  if (before === undefined) return { owner };
  return { owner, before: { source: before.source, reference: before.reference } };
}

function refusedOwner(refused: readonly StackOwner[], key: StackKey, reference: string) {
  const wanted = refused.filter((each) => reference === "" || each.reference === inFull(reference));
  const [only, ...others] = wanted;
  if (only === undefined) {
    throw new StackwrightError(
      "not_found",
      `nobody was refused ${key.name}: name the source that is to have it with --source`,
    );
  }
  if (others.length === 0) return only;
  throw new StackwrightError(
    "conflict",
    `several want ${key.name}: ${
      wanted.map(formatOwner).join(", ")
    }; say which with --source, and ` +
      "--reference for a branch",
  );
}

/** A name is what a URL becomes; a scheme makes it one. */
function namedSource(source: string) {
  const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(source) || /^[^/\s]+@[^/\s]+:/.test(source) ||
    source.startsWith("/");
  const local = /^local(\/.*)$/.exec(source)?.[1];
  return sourceLocation("git", local ?? (isUrl ? source : `https://${source}`));
}

function inFull(reference: string): string {
  return reference === "" || reference.startsWith("refs/") ? reference : `refs/heads/${reference}`;
}

function unknownStack(key: StackKey): StackwrightError {
  return new StackwrightError(
    "not_found",
    `nothing is recorded about ${key.name} on context ${key.context}: is the name right, and is DATA_DIR the service's?`,
  );
}
