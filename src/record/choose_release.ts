import { errors, formatStackArguments, type StackKey } from "../model/mod.ts";
import type { Ledger, RecordedRelease } from "./ledger.ts";

/**
 * Chooses the release to roll back to, and returns it with the current one, which it replaces.
 * Throws `not_found` when there is none.
 */
export function chooseRelease(
  ledger: Pick<Ledger, "current" | "history">,
  key: StackKey,
  number: number | undefined,
): { readonly current: RecordedRelease; readonly wanted: RecordedRelease } {
  const current = ledger.current(key);
  const history = ledger.history(key, Number.MAX_SAFE_INTEGER);
  if (current === undefined) {
    throw errors.not_found(
      `${key.name} has no release on ${key.context}; stackwright status lists what there is`,
      { told: "this stack has no release; GET /v1/api/deployments lists what there is" },
    );
  }
  const wanted = number === undefined
    ? history.find((each) =>
      each.number < current.number && each.status === "deployed" && each.digest !== current.digest
    )
    : history.find((each) => each.number === number);
  if (wanted !== undefined) return { current, wanted };
  const which = number === undefined
    ? "no good release before the current one"
    : `no release ${number}`;
  throw errors.not_found(
    `${key.name} has ${which}; stackwright history ${formatStackArguments(key)} lists what there ` +
      "is",
    { told: `${key.name} has no such release; its history lists what there is` },
  );
}
