import type { ComposeModel } from "../model/mod.ts";
import { nanoseconds } from "./engine/units.ts";
import { updateRules, type Way } from "./update/update_config.ts";

/**
 * Milliseconds for which a container of a service of a rendered model has to run where no health check
 * speaks for it: `monitor` of its rules for updates, or `defaultMs` where that is not there.
 */
export function watchPeriod(
  model: ComposeModel,
  service: string,
  defaultMs: number,
  way: Way = "forward",
): number {
  const { monitor } = updateRules(model, service, way);
  return monitor === undefined ? defaultMs : nanoseconds(monitor) / 1e6;
}
