import { replicasOf, servicesOf } from "../../compose/mod.ts";
import { type ComposeModel, errors } from "../../model/mod.ts";
import { updateOf, watchPeriod } from "./update_config.ts";

/** Longest sum of watching and delays in milliseconds: an update keeps a slot meanwhile. */
const LONGEST_MS = 24 * 60 * 60 * 1000;

/**
 * Checks that no service's update rules take more than a day by `monitor` and `delay`. `model` is
 * rendered, with plain dollars.
 *
 * Throws `config_invalid` for the first service that exceeds it.
 */
export function requireShortUpdates(model: ComposeModel): void {
  for (const [name, service] of Object.entries(servicesOf(model))) {
    for (const way of ["forward", "back"] as const) {
      const { parallelism, delayMs } = updateOf(model, name, way) ??
        { parallelism: Infinity, delayMs: 0 };
      const lots = Math.max(1, Math.ceil(replicasOf(service) / parallelism));
      const watchedMs = lots * watchPeriod(model, name, 0, way);
      if (watchedMs + (lots - 1) * delayMs <= LONGEST_MS) continue;
      const rules = way === "forward" ? "update_config" : "rollback_config";
      throw errors.config_invalid(
        `service ${name}: to replace ${lots} lots by deploy.${rules} takes more than a day by its ` +
          "monitor and delay alone: make them shorter, or parallelism larger",
      );
    }
  }
}
