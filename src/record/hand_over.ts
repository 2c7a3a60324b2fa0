import {
  errors,
  formatOwner,
  isEqualOwner,
  isSameOwner,
  ownerOfRelease,
  type StackKey,
  type StackOwner,
  type StackwrightError,
} from "../model/mod.ts";
import { type DeploymentsOfLedger, whyElsewhere } from "./deployed_by.ts";
import type { Intent, Ledger } from "./ledger.ts";
import { type Judged, type OwnersOfLedger, recordedOwner, takenByOther } from "./recorded_owner.ts";

/**
 * The error for work on a stack that a person handed over to another owner than `own`, in whose names it
 * is done, or that has a second one by now, see {@link RecordedOwner.contested}; `undefined` while it is
 * not another's.
 */
export function handedOver(
  { owners }: Pick<Ledger, "owners">,
  key: StackKey,
  own: readonly (StackOwner | undefined)[],
): StackwrightError | undefined {
  const now = owners.get(key);
  const contested = now?.contested;
  if (contested !== undefined && !own.some((each) => isEqualOwner(each, contested))) {
    return errors.conflict(
      `${key.name} belongs to ${formatOwner(contested)} by context ${contested.context} as well, ` +
        "which leads to its engine: what was under way has ended, and is left as it is until a person " +
        "hands the stack over by both",
    );
  }
  if (now?.adopted !== true || own.some((each) => each && isSameOwner(each, now))) return undefined;
  return errors.conflict(
    `${key.name} was handed over to ${formatOwner(now)}: what was under way for its former ` +
      "owner has ended, and what that has changed stays until the new owner's next deployment",
  );
}

/**
 * Why the release that runs of a stack is left as it is: it is not its owner's, who has not deployed it
 * yet. Nothing of it is repaired, restarted by itself, or recreated. `undefined` where it is the owner's.
 */
export function notOwners(ledger: OwnersOfLedger, release: Judged): string | undefined {
  const over = handedOver(ledger, release.key, [ownerOfRelease(release)]);
  return takenByOther(ledger, release) ?? over?.message;
}

/** As {@link notOwners}, of what runs of a stack, or is being deployed for the first time. */
export function isOfOthers(ledger: OwnersOfLedger, key: StackKey): boolean {
  const release = whatRuns(ledger, key);
  return release !== undefined && notOwners(ledger, release) !== undefined;
}

/**
 * Why nothing of what a stack's context has deployed is brought back, nor its jobs run: it is {@link isOfOthers
 * others'}, or {@link whyElsewhere another context's}.
 */
export function whyLeft(
  ledger: OwnersOfLedger & DeploymentsOfLedger,
  key: StackKey,
): string | undefined {
  const release = whatRuns(ledger, key);
  return release && (notOwners(ledger, release) ?? whyElsewhere(ledger, key));
}

/**
 * The owner in whose name what runs of a stack was deployed, or is being deployed for the first time:
 * that of its release, which may be a former one; the recorded owner where it has none.
 */
export function ownerOfWhatRuns(
  ledger: Pick<Ledger, "owners" | "current" | "history">,
  key: StackKey,
): StackOwner | undefined {
  const release = whatRuns(ledger, key);
  return release === undefined ? recordedOwner(ledger, key) : ownerOfRelease(release);
}

function whatRuns(ledger: Pick<Ledger, "current" | "history">, key: StackKey) {
  return ledger.current(key) ?? ledger.history(key, 1)[0];
}

/**
 * The owner in whose name an intent is carried out, whoever has the stack by now. A destroy of an earlier
 * version, which recorded none, is that of the owner of what it removes.
 */
export function ownerOfIntent(
  ledger: Pick<Ledger, "owners" | "current" | "history" | "release">,
  { key, releaseId, by }: Intent,
): StackOwner | undefined {
  const release = ledger.release(releaseId);
  return release === undefined ? by ?? ownerOfWhatRuns(ledger, key) : ownerOfRelease(release);
}
