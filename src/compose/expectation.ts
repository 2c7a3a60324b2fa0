import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  type ComposeModel,
  isJobService,
  type ServiceExpectation,
} from "../model/mod.ts";
import { isObject, type JsonObject, labelsOf, objectAt, serviceOf, textAt } from "./model.ts";

/** What deployments expect from one service of a rendered model. */
export function expectationOf(name: string, model: ComposeModel): ServiceExpectation {
  const service = serviceOf(model, name);
  const labels = labelsOf(service);
  const policy = restartPolicy(service);
  return {
    replicas: replicasOf(service),
    restarts: policy === "always" || policy === "unless-stopped",
    mayFinish: policy === "no" || policy === "on-failure",
    oneShot: behaviourLabel(labels, BEHAVIOUR_LABELS.oneShot) === "true" ||
      isAwaitedToComplete(name, model),
    autostart: behaviourLabel(labels, BEHAVIOUR_LABELS.autostart) !== "false" &&
      !isJobService(labels),
  };
}

/** Those of some services of a rendered model that are no scheduled jobs, which no deployment starts. */
export function withoutJobs(names: readonly string[], model: ComposeModel): string[] {
  return names.filter((name) => !isJobService(labelsOf(serviceOf(model, name))));
}

/** Number of containers of a rendered service; one by default. */
export function replicasOf(service: JsonObject): number {
  const asked = objectAt(service, "deploy")["replicas"] ?? service["scale"] ?? 1;
  return Number(asked);
}

/** The restart policy of a service; `no` by default. */
export function restartPolicy(service: JsonObject): string {
  const condition = textAt(objectAt(objectAt(service, "deploy"), "restart_policy"), "condition");
  if (condition === "none") return "no";
  if (condition === "any") return "always";
  if (condition !== "") return condition;
  const restart = textAt(service, "restart");
  return restart === "" ? "no" : restart.replace(/:\d+$/, "");
}

function isAwaitedToComplete(name: string, model: ComposeModel): boolean {
  return Object.values(objectAt(model, "services")).some((other) =>
    isObject(other) &&
    textAt(objectAt(objectAt(other, "depends_on"), name), "condition") ===
      "service_completed_successfully"
  );
}
