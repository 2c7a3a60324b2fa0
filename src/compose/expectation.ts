import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  type ComposeModel,
  isJobService,
  type ServiceExpectation,
} from "../model/mod.ts";
import {
  isObject,
  type JsonObject,
  labelsOf,
  objectAt,
  objectsAt,
  serviceOf,
  textAt,
} from "./model.ts";

/** What deployments expect from one service of a rendered model. */
export function expectationOf(name: string, model: ComposeModel): ServiceExpectation {
  const service = serviceOf(model, name);
  const labels = labelsOf(service);
  const policy = restartPolicy(service);
  const oneShot = behaviourLabel(labels, BEHAVIOUR_LABELS.oneShot) === "true" ||
    isAwaitedToComplete(name, model);
  return {
    replicas: replicasOf(service),
    restarts: policy === "always" || policy === "unless-stopped",
    mayFinish: policy === "on-failure" || policy === "no" && (oneShot || !mustServe(service)),
    oneShot,
    autostart: behaviourLabel(labels, BEHAVIOUR_LABELS.autostart) !== "false" &&
      !isJobService(labels),
  };
}

/** Number of containers of a rendered service; one by default. */
export function replicasOf(service: JsonObject): number {
  const asked = objectAt(service, "deploy")["replicas"] ?? service["scale"] ?? 1;
  return Number(asked);
}

/** The restart policy of a service; `no` by default. */
export function restartPolicy(service: JsonObject): string {
  return writtenPolicy(service) || "no";
}

function writtenPolicy(service: JsonObject): string {
  const condition = textAt(objectAt(objectAt(service, "deploy"), "restart_policy"), "condition");
  if (condition === "none") return "no";
  if (condition === "any") return "always";
  return condition || textAt(service, "restart").replace(/:\d+$/, "");
}

/**
 * Whether a service answers others, by its ports or its health check, and says nothing of its end:
 * a server that was stopped mostly ends with 0, as what has done its work does.
 */
function mustServe(service: JsonObject): boolean {
  if (writtenPolicy(service) !== "") return false;
  const check = objectAt(service, "healthcheck");
  const [kind] = Array.isArray(check["test"]) ? check["test"] : [];
  const isChecked = Object.keys(check).length > 0 && kind !== "NONE" && check["disable"] !== true;
  return isChecked || objectsAt(service, "ports").length > 0;
}

function isAwaitedToComplete(name: string, model: ComposeModel): boolean {
  return Object.values(objectAt(model, "services")).some((other) =>
    isObject(other) &&
    textAt(objectAt(objectAt(other, "depends_on"), name), "condition") ===
      "service_completed_successfully"
  );
}
