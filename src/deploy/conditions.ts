import {
  type ComposeModel,
  fewOf,
  type ObservedContainer,
  type ObservedStack,
  type ReleaseService,
} from "../model/mod.ts";
import { isObject, objectAt, serviceOf, textAt } from "../compose/mod.ts";

/** A condition that one service waits for before it is started. */
export interface StartCondition {
  readonly dependent: string;
  readonly dependency: string;
  /** `service_started`, `service_healthy` or `service_completed_successfully`. */
  readonly condition: string;
}

type ConditionState =
  | { readonly kind: "met" }
  | { readonly kind: "waiting"; readonly why: string }
  | { readonly kind: "failed"; readonly container: ObservedContainer; readonly why: string };

/** Services of a release, to find those that dependents need not wait for. */
interface Unawaited {
  readonly desired: readonly ReleaseService[];
  /** Services that ran before, and so run even if deployments do not start them. */
  readonly running: ReadonlySet<string>;
}

/**
 * Conditions that `services` of a rendered model wait for, except those among each other, which
 * compose awaits itself. Dependencies that are not required, have zero replicas, or are not started
 * by deployments are left out.
 */
export function conditionsOf(
  model: ComposeModel,
  services: readonly string[],
  { desired, running }: Unawaited,
): StartCondition[] {
  const isAwaited = (name: string) => {
    const expectation = desired.find((each) => each.name === name)?.expectation;
    if (expectation === undefined || expectation.replicas === 0) return false;
    return expectation.autostart || running.has(name);
  };
  return services.flatMap((dependent) => {
    const dependencies = objectAt(serviceOf(model, dependent), "depends_on");
    return Object.entries(dependencies).flatMap(([dependency, how]) => {
      if (!isObject(how) || how["required"] === false) return [];
      if (services.includes(dependency) || !isAwaited(dependency)) return [];
      return [{ dependent, dependency, condition: textAt(how, "condition") || "service_started" }];
    });
  });
}

/** Conditions that are told of those that are waited for; more are only counted. */
const MOST_TOLD = 20;

/** Judges one sample: every container of a dependency must meet the condition. */
export function conditionState(
  conditions: readonly StartCondition[],
  observed: ObservedStack,
): ConditionState {
  const waiting: string[] = [];
  for (const each of conditions) {
    const containers = observed.containers.filter(({ service }) => service === each.dependency);
    const text = `${each.dependent} waits for ${each.dependency}`;
    if (containers.length === 0) waiting.push(`${text}, which has no container`);
    for (const container of containers) {
      const judged = judge(each.condition, container);
      if (judged.kind === "failed") {
        const why = `${text}: container ${container.name} ${judged.why}`;
        return { kind: "failed", container, why };
      }
      if (judged.kind === "waiting") waiting.push(`${text}: it ${judged.why}`);
    }
  }
  return waiting.length === 0
    ? { kind: "met" }
    : { kind: "waiting", why: fewOf(waiting, MOST_TOLD) };
}

type Judged =
  | { readonly kind: "met" }
  | { readonly kind: "waiting" | "failed"; readonly why: string };

function judge(condition: string, container: ObservedContainer): Judged {
  if (condition === "service_healthy") return judgeHealth(container);
  if (condition === "service_completed_successfully") return judgeEnd(container);
  return container.state === "created"
    ? { kind: "waiting", why: "is not started" }
    : { kind: "met" };
}

function judgeHealth({ state, health, exitCode }: ObservedContainer): Judged {
  if (state === "exited" || state === "dead") {
    return { kind: "failed", why: `stopped with exit code ${exitCode}` };
  }
  if (health === "healthy") return { kind: "met" };
  if (health === "unhealthy") return { kind: "failed", why: "is unhealthy" };
  if (state === "running" && health === "none") {
    return { kind: "failed", why: "has no health check, so it never counts as healthy" };
  }
  return { kind: "waiting", why: "is not healthy yet" };
}

function judgeEnd({ state, exitCode }: ObservedContainer): Judged {
  if (state !== "exited" && state !== "dead") return { kind: "waiting", why: "has not finished" };
  return exitCode === 0 ? { kind: "met" } : { kind: "failed", why: `ended with ${exitCode}` };
}
