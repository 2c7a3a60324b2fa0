import { ownerOf } from "../../deploy/mod.ts";
import {
  errors,
  formatAdoption,
  formatOwner,
  isOurs,
  isSameOwner,
  type ObservedContainer,
  peerUrl,
  type StackKey,
  type StackOwner,
} from "../../model/mod.ts";
import type { RecordedRelease } from "../../record/ledger.ts";
import type { RecordedOwner } from "../../record/owners.ts";
import { surelySameRepository } from "../../source/mod.ts";

/** Facts that tell whose a stack is. */
export interface Owned {
  /** The stack's containers and services. */
  readonly parts: readonly Pick<ObservedContainer, "name" | "labels">[];
  readonly recorded: RecordedRelease | undefined;
  readonly owner: RecordedOwner | undefined;
  /**
   * Whether the owner deployed anything of it. Absent where only what is Stackwright's will do; else
   * what the first deployment would take over will, too, by doco-cd's labels or after a hand-over.
   */
  readonly hasDeployed?: boolean;
}

/**
 * Refuses an action (`wanted`, such as `destroyed`) unless all of a stack is Stackwright's, or to be
 * taken over, and `wants` owns it by its configuration: anybody may name a repository to deploy from.
 *
 * Throws `conflict`.
 */
export function requireOwner(
  key: StackKey,
  wants: StackOwner,
  { parts, recorded, owner, hasDeployed }: Owned,
  wanted: string,
): void {
  // Older versions labelled containers with the deployed repository, not with the configuration's.
  const deployed = owner && recorded?.revision.source.name;
  const isOwner = (name: string | undefined) =>
    name !== undefined && (name === wants.source || name === deployed);
  const refuse = (whose: string, advice = "") =>
    errors.conflict(
      `${key.name} is not ${wanted}: ${whose}, not to ${formatOwner(wants)}${advice}`,
    );
  if (owner !== undefined && !isSameOwner(owner, wants)) {
    throw refuse(`it belongs to ${formatOwner(owner)}`);
  }
  const isHandedOver = owner?.adopted === true;
  const isOwn = ({ labels }: Owned["parts"][number]) => {
    if (isOurs({ labels })) return isHandedOver || isOwner(ownerOf(labels));
    const isPeers = surelySameRepository(peerUrl(labels), wants.source);
    return hasDeployed !== undefined && (isPeers || (isHandedOver && !hasDeployed));
  };
  const foreign = parts.find((each) => !isOwn(each));
  if (foreign !== undefined) {
    const { name, labels } = foreign;
    const whose = (isOurs({ labels }) ? ownerOf(labels) : peerUrl(labels)) ||
      "nobody Stackwright knows";
    const adopt = hasDeployed === false ? `, or hand all over: ${formatAdoption(key, wants)}` : "";
    const advice = hasDeployed === undefined ? "" : `; remove it by hand${adopt}`;
    throw refuse(`its container ${name} belongs to ${whose}`, advice);
  }
  // Without containers only the recorded release tells the owner: volume labels are not read here.
  if (parts.length > 0 || recorded === undefined || owner !== undefined) return;
  const { source } = recorded.configuration ?? recorded.revision;
  if (!isOwner(source.name)) throw refuse(`it belongs to ${source.name}`);
}
