import type { ComposeModel } from "../../model/mod.ts";
import {
  askedOrder,
  isObject,
  type JsonObject,
  objectAt,
  serviceOf,
  textAt,
  type UpdateOrder,
} from "../../compose/mod.ts";
import { nanoseconds, numberOf } from "../engine/units.ts";

/** Reactions to new containers of a service that do not work. */
export type FailureAction = "pause" | "continue" | "rollback";

/** Rules for replacing the containers of one service. */
export interface ServiceUpdate {
  readonly order: UpdateOrder;
  /** Number of containers replaced at once (a lot). */
  readonly parallelism: number;
  /** Milliseconds between one lot and the next. */
  readonly delayMs: number;
  /** Absent where `DEPLOY_ROLLBACK` decides. */
  readonly failureAction?: FailureAction;
}

/** Whether a rollout goes to another release, or takes a failed one back. */
export type Way = "forward" | "back";

/**
 * The rules by which a service of a model is replaced: `deploy.update_config`, overridden by
 * `deploy.rollback_config` on the way back. `undefined` without such rules: then all containers are
 * replaced at once, stop-first.
 */
export function updateOf(
  model: ComposeModel,
  name: string,
  way: Way = "forward",
): ServiceUpdate | undefined {
  const service = serviceOf(model, name);
  const deploy = objectAt(service, "deploy");
  const order = askedOrder(service, way);
  const rules = updateRules(model, name, way);
  const isWritten = isObject(deploy["update_config"]) ||
    (way === "back" && isObject(deploy["rollback_config"]));
  if (!isWritten && order === "stop-first") return undefined;
  const parallelism = numberOf(rules["parallelism"]) ?? 1;
  const failureAction = (["pause", "continue", "rollback"] as const)
    .find((each) => each === textAt(rules, "failure_action"));
  return {
    order,
    parallelism: parallelism <= 0 ? Infinity : parallelism,
    delayMs: nanoseconds(rules["delay"]) / 1e6,
    ...(failureAction === undefined ? {} : { failureAction }),
  };
}

/** Update rules of a service as written; on the way back `rollback_config` wins. */
export function updateRules(model: ComposeModel, name: string, way: Way): JsonObject {
  const deploy = objectAt(serviceOf(model, name), "deploy");
  const back = way === "back" ? objectAt(deploy, "rollback_config") : {};
  return { ...objectAt(deploy, "update_config"), ...back };
}

/**
 * Milliseconds that a container without a health check must run: `monitor` in the update rules of
 * its service in a rendered model, or else `defaultMs`.
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
