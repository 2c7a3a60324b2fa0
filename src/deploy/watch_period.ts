import { objectAt, servicesOf } from "../compose/mod.ts";
import type { ComposeModel } from "../model/mod.ts";
import { nanoseconds } from "./engine/units.ts";

/**
 * Milliseconds for which a container of a service of a rendered model has to run where no health check
 * speaks for it: `deploy.update_config.monitor`, or `defaultMs` where that is not there.
 */
export function watchPeriod(model: ComposeModel, service: string, defaultMs: number): number {
  const update = objectAt(objectAt(servicesOf(model)[service] ?? {}, "deploy"), "update_config");
  const monitor = update["monitor"];
  return monitor === undefined ? defaultMs : nanoseconds(monitor) / 1e6;
}
