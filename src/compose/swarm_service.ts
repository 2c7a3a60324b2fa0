import type { ComposeModel, ReleaseService } from "../model/mod.ts";
import { objectAt, servicesOf, textAt } from "./model.ts";

/**
 * A service as a swarm runs it: it restarts what ended unless it is told not to, runs a job to its end,
 * and names its tasks by itself. A global service counts as one, however many nodes there are.
 */
export function swarmService(service: ReleaseService, rendered: ComposeModel): ReleaseService {
  const definition = servicesOf(rendered)[service.name] ?? {};
  const deploy = objectAt(definition, "deploy");
  const mode = textAt(deploy, "mode");
  const isJob = mode.endsWith("-job");
  const condition = textAt(objectAt(deploy, "restart_policy"), "condition") ||
    (textAt(definition, "restart") === "" ? "any" : "");
  const { place: _place, ...rest } = service;
  const { expectation } = service;
  const restarts = !isJob && (condition === "" ? expectation.restarts : condition === "any");
  return {
    ...rest,
    builds: false,
    expectation: {
      ...expectation,
      replicas: mode.startsWith("global") ? 1 : expectation.replicas,
      restarts,
      mayFinish: !restarts,
    },
  };
}
