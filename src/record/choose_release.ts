import {
  askingSource,
  errors,
  formatAdoption,
  formatOwner,
  formatStackArguments,
  formerOwner,
  inShell,
  LABELS,
  recordOf,
  type StackKey,
} from "../model/mod.ts";
import type { Ledger, RecordedRelease } from "./ledger.ts";
import { recordedOwner } from "./recorded_owner.ts";

/**
 * Chooses the release to roll back to, and returns it with the current one, which it replaces. A
 * release of a former owner of the stack is not chosen, nor one of another repository where either was
 * discovered there: its containers would get another's data.
 *
 * Throws `not_found` when there is none, and `conflict` when the one of this number is such a release.
 */
export function chooseRelease(
  ledger: Pick<Ledger, "current" | "history" | "open" | "owners">,
  key: StackKey,
  number: number | undefined,
): { readonly current: RecordedRelease; readonly wanted: RecordedRelease } {
  const current = ledger.current(key);
  const history = ledger.history(key, Number.MAX_SAFE_INTEGER);
  if (current === undefined && history.length > 0) {
    const nothing = `nothing of ${key.name} is deployed, so no release is put back`;
    throw errors.not_found(
      `${nothing}; deploy it again (stackwright apply, with --ref COMMIT for an earlier one of ` +
        `stackwright history ${formatStackArguments(key)})`,
      { told: `${nothing}; deploy it again by its source` },
    );
  }
  if (current === undefined) {
    throw errors.not_found(
      `${key.name} has no release on ${key.context}; stackwright status lists what there is`,
      { told: "this stack has no release; GET /v1/api/deployments lists what there is" },
    );
  }
  const owner = recordedOwner(ledger, key);
  const isAnothers = anotherRepositorys(ledger, current);
  const wanted = number === undefined
    ? history.find((each) =>
      each.number < current.number && each.status === "deployed" &&
      each.digest !== current.digest && formerOwner(each, owner) === undefined && !isAnothers(each)
    )
    : history.find((each) => each.number === number);
  const former = wanted && formerOwner(wanted, owner);
  if (wanted !== undefined && former !== undefined && owner !== undefined) {
    const command = `${formatAdoption(key, owner)} --releases-of ${inShell(former.source)}`;
    const why =
      `release ${wanted.number} of ${key.name} is of ${formatOwner(former)}, and the stack ` +
      `with its data belongs to ${formatOwner(owner)} now: it was not put back`;
    throw errors.conflict(`${why}; if its releases are to be handed over, too: ${command}`, {
      told: `${why}; adopt hands its releases over as well, with releases_of`,
    });
  }
  if (wanted !== undefined && isAnothers(wanted)) {
    const [theirs, now] = [wanted, current].map(({ revision }) => revision.source.name);
    throw errors.conflict(
      `release ${wanted.number} of ${key.name} is of ${theirs}, and the stack with its data is deployed ` +
        `from ${now} now, of which one was discovered in that repository: it was not put back`,
    );
  }
  if (wanted !== undefined) return { current, wanted };
  const which = number === undefined
    ? `no good release${owner ? ` of ${formatOwner(owner)}` : ""} before the current one`
    : `no release ${number}`;
  throw errors.not_found(
    `${key.name} has ${which}; stackwright history ${formatStackArguments(key)} lists what there ` +
      "is",
    { told: `${key.name} has no such release; its history lists what there is` },
  );
}

/**
 * Whether a release is of another repository than the current one, and one of both was discovered in its
 * own: authors there are not the configuration's, to whom what was written down belongs.
 */
function anotherRepositorys(ledger: Pick<Ledger, "open">, current: RecordedRelease) {
  const known = new Map<string, boolean>();
  const isFound = (release: RecordedRelease) =>
    askingSource(release) !== release.revision.source.name &&
    Object.values(recordOf(ledger.open(release).model["services"])).some((each) =>
      recordOf(recordOf(each)["labels"])[LABELS.autoDiscovery] !== undefined
    );
  // Models are long: that of one release of each repository is opened.
  const isFoundIn = (release: RecordedRelease) =>
    known.getOrInsertComputed(release.revision.source.name, () => isFound(release));
  return (release: RecordedRelease) =>
    release.revision.source.name !== current.revision.source.name &&
    (isFoundIn(current) || isFoundIn(release));
}
