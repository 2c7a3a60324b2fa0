import {
  errors,
  formatAdoption,
  formatOwner,
  formatStackArguments,
  formerOwner,
  inShell,
  type StackKey,
} from "../model/mod.ts";
import type { Ledger, RecordedRelease } from "./ledger.ts";
import { recordedOwner } from "./recorded_owner.ts";

/**
 * Chooses the release to roll back to, and returns it with the current one, which it replaces. A
 * release of a former owner of the stack is not chosen: its containers would get another's data.
 *
 * Throws `not_found` when there is none, and `conflict` when the one of this number is a former
 * owner's.
 */
export function chooseRelease(
  ledger: Pick<Ledger, "current" | "history" | "owners">,
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
  const wanted = number === undefined
    ? history.find((each) =>
      each.number < current.number && each.status === "deployed" &&
      each.digest !== current.digest && formerOwner(each, owner) === undefined
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
  if (wanted !== undefined) return { current, wanted };
  const which = number === undefined
    ? `no good release${
      owner === undefined ? "" : ` of ${formatOwner(owner)}`
    } before the current one`
    : `no release ${number}`;
  throw errors.not_found(
    `${key.name} has ${which}; stackwright history ${formatStackArguments(key)} lists what there ` +
      "is",
    { told: `${key.name} has no such release; its history lists what there is` },
  );
}
