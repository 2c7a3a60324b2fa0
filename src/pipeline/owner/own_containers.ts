import { isLabelledBefore, notYours, ownership } from "../../deploy/mod.ts";
import {
  askingSource,
  isOurs,
  isStackwrightError,
  type ObservedStack,
  peerUrl,
  type Release,
  type StackKey,
  type StackOwner,
} from "../../model/mod.ts";
import { recordedOwner } from "../../record/mod.ts";
import { surelySameRepository } from "../../source/mod.ts";
import type { PipelineParts } from "../parts.ts";

/** A release, and what tells whose it is. */
type Owned = Pick<Release, "key" | "configuration" | "revision">;

/**
 * Refuses to go on with a release where another manager's containers have come: this ledger knows
 * nothing of that one, which may have deployed under the name while nothing of the stack ran. Ask it
 * of a fresh look before anything stops or makes containers. Throws `conflict`.
 */
export function requireOwnContainers(
  { ledger }: Pick<PipelineParts, "ledger">,
  release: Owned,
  observed: ObservedStack,
): void {
  const { key, revision } = release;
  if (recordedOwner(ledger, key)?.adopted === true) return;
  const claimant = { source: askingSource(release), reference: "" };
  const containers = observed.containers.filter((each) =>
    !isLabelledBefore(each, revision.source.name)
  );
  const seen = { ...observed, containers };
  ownership(key, { observed: seen, volumes: [], adopted: false }, claimant);
  requireNotOfPeer(key, observed, claimant);
}

/** Whether {@link requireOwnContainers} refuses a release, which it logs then. */
export function isOthersByContainers(
  { ledger, log }: Pick<PipelineParts, "ledger" | "log">,
  release: Owned,
  observed: ObservedStack,
): boolean {
  try {
    requireOwnContainers({ ledger }, release, observed);
    return false;
  } catch (error) {
    if (!isStackwrightError(error, "conflict")) throw error;
    const { name: stack, context } = release.key;
    log.warning(`nothing is repaired: ${error.message}`, { stack, context });
    return true;
  }
}

/**
 * Refuses to adopt containers that doco-cd deployed from another repository than the claimant.
 * Naming that repository in a configuration gives no right: anybody could name it and get its data.
 */
export function requireNotOfPeer(
  key: StackKey,
  observed: ObservedStack,
  claimant: StackOwner,
): void {
  for (const container of observed.containers) {
    const { name, labels } = container;
    const url = peerUrl(labels);
    if (isOurs(container) || url === "") continue;
    if (!surelySameRepository(url, claimant.source)) {
      throw notYours(key, `runs from ${url} by doco-cd (container ${name})`, claimant);
    }
  }
}
