import {
  LABELS,
  MANAGER,
  type ObservedContainer,
  type ObservedStack,
  type Plan,
  type ReleaseService,
} from "../../../src/model/mod.ts";
import { containerOf } from "./values.ts";

/** What a plan is carried out with. */
export interface Applied {
  readonly plan: Plan;
  readonly desired: readonly ReleaseService[];
  readonly observed: ObservedStack;
  /** Image each service gets when it is made now. */
  readonly images: Readonly<Record<string, string>>;
}

/**
 * What an engine would run after a plan was carried out, by the meaning of its actions alone: the
 * oracle for what a plan promises. Knows nothing of how a plan is made.
 */
export function applyPlan({ plan, desired, observed, images }: Applied): ObservedStack {
  const planned = new Set(plan.services.map((each) => each.name));
  const untouched = observed.containers.filter((each) => !planned.has(each.service));
  const handled = plan.services.flatMap(({ name, action }) => {
    const service = desired.find((each) => each.name === name);
    const existing = observed.containers.filter((each) => each.service === name);
    if (action === "keep") return existing;
    if (action === "remove" || service === undefined) return [];
    const { replicas, autostart } = service.expectation;
    const starts = (each: ObservedContainer): ObservedContainer => {
      const sleeps = ["created", "exited", "dead", "paused"].includes(each.state);
      return autostart && sleeps ? { ...each, state: "running", exitCode: undefined } : each;
    };
    const makes = (number: number) => made(service, number, images[name] ?? "sha256:old");
    if (action === "recreate") return range(replicas).map(makes);
    return range(replicas).map((number) => {
      const there = existing[number - 1];
      return there === undefined ? makes(number) : starts(there);
    });
  });
  return { containers: [...untouched, ...handled] };
}

function made(service: ReleaseService, number: number, imageId: string): ObservedContainer {
  return containerOf(service.name, {
    id: `${service.name}-new-${number}`,
    name: `stack-${service.name}-${number}`,
    state: service.expectation.autostart ? "running" : "created",
    imageId,
    labels: { [LABELS.manager]: MANAGER, [LABELS.digest]: service.digest },
  });
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
