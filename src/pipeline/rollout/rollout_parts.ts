import type { ReleaseService } from "../../model/mod.ts";
import { planFor, type Why } from "../../plan/mod.ts";
import type { RolloutParts } from "../../deploy/mod.ts";
import { composeCall, requireImages } from "../../prepare/mod.ts";
import { NO_SLOT } from "../../system/mod.ts";
import type { DecidedRollout, PipelineParts } from "../parts.ts";
import { placeReleaseFiles, requireAllowed, stackFiles } from "../placed_files.ts";

/**
 * The ports of a rollout, whose every step asks first whether the stack is still the owner's; `moved` has the
 * images that both releases ran, for tags that moved without changing a digest.
 */
export function rolloutParts(
  parts: PipelineParts,
  work: DecidedRollout,
  moved: Pick<Why & { readonly kind: "taken_back" }, "images" | "ran"> = {},
): RolloutParts {
  const { host: { engine, backend }, clock, log, options: { watchMs } } = parts;
  const { next, progress, removeOrphans, undone, orphans = [], slot = NO_SLOT } = work;
  // A rollback may have failed whose release has services that were orphans before, which were to stay.
  const added = (services: readonly ReleaseService[]) =>
    services.filter(({ name }) => !orphans.includes(name));
  return {
    ...{ engine, backend: backend(engine), clock, log, progress, slot },
    watchMs,
    files: stackFiles(parts, next.release.key),
    async requireAllowed(onDisk, signal, starts) {
      await requireAllowed(parts, onDisk, signal, starts);
      work.ask?.();
      signal.throwIfAborted();
    },
    replan: (release, observed, { services: failed }) => {
      // Also before a failed release is taken back: that makes containers of a former owner's.
      work.ask?.();
      // What was there before a release that failed goes with the next good one.
      const back = release === next.release
        ? { removeOrphans, failed: undone ?? failed }
        : { removeOrphans: false, failed: added(failed), ...moved };
      const why = { kind: "taken_back", ...back } as const;
      return planFor(release, observed, why).services;
    },
    fetchImages: async (onDisk, services, signal) => {
      await requireImages(parts, onDisk, { services, progress }, signal);
      await placeReleaseFiles(parts, { next: onDisk, services, progress }, signal);
    },
    call: (onDisk) => composeCall(parts, onDisk),
  };
}
