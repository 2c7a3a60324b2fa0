import type { Release } from "./release.ts";
import { isSameOwner, ownerFrom, type StackOwner } from "./stack_owner.ts";

type Owned = Pick<Release, "configuration" | "revision"> & { readonly owner?: StackOwner };

/**
 * The owner in whose name a release was deployed: that of its stack at the time, since a person may
 * have deployed another branch. Older versions recorded none: then the source that asked for it.
 */
export function ownerOfRelease({ owner, configuration, revision }: Owned): StackOwner {
  return owner ?? ownerFrom(configuration ?? revision);
}

/**
 * The owner of a release where that is another than its stack's `owner` now: the stack was
 * destroyed and is another's since, or was handed over. `undefined` where it is the same.
 */
export function formerOwner(release: Owned, owner: StackOwner | undefined): StackOwner | undefined {
  const own = ownerOfRelease(release);
  return owner === undefined || isSameOwner(own, owner) ? undefined : own;
}
