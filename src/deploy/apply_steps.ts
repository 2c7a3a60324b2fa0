import { isOurs, type ReleaseService, type ServicePlan } from "../model/mod.ts";
import { servicesOf } from "../compose/mod.ts";
import type { UpArguments } from "./compose/command.ts";
import { conditionsOf, type StartCondition } from "./conditions.ts";
import { type Neighbours, waysOf } from "./in_the_way.ts";
import { groupChanges } from "./step_groups.ts";

/** One step that changes an engine while a plan is carried out. */
export type ApplyStep =
  | { readonly kind: "remove"; readonly services: readonly string[] }
  /** Stopped and renamed, so that others can use their names, but not removed. */
  | { readonly kind: "stop"; readonly services: readonly string[] }
  /** Signals by service, sent after files changed in place. */
  | { readonly kind: "signal"; readonly signals: Readonly<Record<string, string>> }
  /** Conditions that must hold before the next step. */
  | { readonly kind: "wait"; readonly conditions: readonly StartCondition[] }
  | { readonly kind: "up" } & UpArguments;

/** Input that the steps are made from. */
export interface ApplyInput extends Neighbours {
  readonly services: readonly ServicePlan[];
  readonly desired: readonly ReleaseService[];
  /** Services that ran before: deployments start them even when they normally do not. */
  readonly running: ReadonlySet<string>;
  /** Services that are replaced by their own update rules; none by default. */
  readonly rolled?: ReadonlySet<string>;
}

/** The steps of a plan: those before the release is judged healthy, and those after. */
interface ApplySteps {
  readonly before: readonly ApplyStep[];
  readonly after: readonly ApplyStep[];
}

/** The ways in which a service is changed, in their order when dependencies do not decide. */
const KINDS = ["replace by rules", "replace", "replace stopped", "complete", "complete stopped"];

/**
 * Orders a plan's changes. A service comes after its dependencies, and waits for the conditions of
 * `depends_on`. Ports, names, addresses and data that a started service needs are freed right
 * before, whichever service holds them. Services that the release drops are removed last, after the
 * new ones proved healthy; until then their stopped containers can be started again unchanged.
 */
export function applySteps(input: ApplyInput): ApplySteps {
  const named = (...actions: string[]) =>
    input.services.filter((each) => actions.includes(each.action)).map((each) => each.name);
  const ended = named("scale").filter((name) => replicasOf(name, input) === 0);
  const removed = named("remove");
  return {
    before: [
      ...signalStep(named("reload"), input.desired),
      ...servicesStep("stop", ended),
      ...startSteps(input, ended, removed),
    ],
    after: servicesStep("remove", [...ended, ...removed]),
  };
}

function startSteps(
  input: ApplyInput,
  ended: readonly string[],
  removed: readonly string[],
): ApplyStep[] {
  const changes = input.services.flatMap((each) => {
    const kind = kindOf(each, input);
    return kind === undefined || ended.includes(each.name) ? [] : [{ name: each.name, kind }];
  });
  const dependencies = new Map(input.desired.map((each) => [each.name, each.dependsOn]));
  const groups = groupChanges(changes, KINDS, (name) => dependencies.get(name) ?? []);
  const groupOf = new Map(groups.flatMap(({ names }, at) => names.map((name) => [name, at])));
  const replaced = changes.filter(({ kind }) => isReplace(kind)).map((each) => each.name);
  const leaving = [...removed, ...orphans(input, removed), ...replaced];
  const ways = waysOf(input);
  // Each is stopped for the first that needs what it holds; what is replaced before that is not.
  const takers = ways.inTheWay(leaving, groups.flatMap(({ names }) => names));
  const leavingFor = Map.groupBy(leaving, (name) => groupOf.get(takers.get(name) ?? ""));
  const stopped = new Set(ended);
  return groups.flatMap(({ kind, names }, at) => {
    const staysDown = kind.endsWith("stopped");
    const freed = [
      ...(leavingFor.get(at) ?? []).filter((each) =>
        !stopped.has(each) && (groupOf.get(each) ?? Infinity) > at
      ),
      // Update rules may start one service long before another's old containers are stopped.
      ...(modeOf(kind) === "roll" ? ways.inTheWay(names, names).keys() : []),
      ...(modeOf(kind) === "replace" ? ways.exchange(names).keys() : []),
    ];
    freed.forEach((name) => stopped.add(name));
    return [
      ...(staysDown ? [] : waitStep(conditionsOf(input.model, names, input))),
      ...servicesStep("stop", freed),
      { kind: "up", mode: modeOf(kind), scale: scaleOf(names, input), noStart: staysDown } as const,
    ];
  });
}

/** How a service is changed, as one of `KINDS`; `undefined` when no container has to be made. */
function kindOf({ name, action }: ServicePlan, input: ApplyInput): string | undefined {
  const replaces = action === "recreate";
  if (!replaces && !["create", "scale", "start"].includes(action)) return undefined;
  const expectation = input.desired.find((each) => each.name === name)?.expectation;
  const staysDown = expectation?.autostart === false && !input.running.has(name);
  if (replaces && !staysDown && input.rolled?.has(name)) return "replace by rules";
  return `${replaces ? "replace" : "complete"}${staysDown ? " stopped" : ""}`;
}

function modeOf(kind: string): UpArguments["mode"] {
  if (kind === "replace by rules") return "roll";
  return isReplace(kind) ? "replace" : "complete";
}

function isReplace(kind: string): boolean {
  return kind.startsWith("replace");
}

/**
 * Services of ours that are in no model any more and that the plan leaves alone: orphans are kept
 * by configuration, or an interrupted deployment is being continued.
 */
function orphans(input: ApplyInput, removed: readonly string[]): string[] {
  const ours = input.containers.filter(isOurs);
  const names = [...new Set(ours.map((each) => each.service))];
  const wanted = servicesOf(input.model);
  const known = new Set(removed);
  return names.filter((name) => wanted[name] === undefined && !known.has(name));
}

function servicesStep(kind: "remove" | "stop", services: readonly string[]): ApplyStep[] {
  return services.length === 0 ? [] : [{ kind, services }];
}

function waitStep(conditions: readonly StartCondition[]): ApplyStep[] {
  return conditions.length === 0 ? [] : [{ kind: "wait", conditions }];
}

function signalStep(names: readonly string[], desired: readonly ReleaseService[]): ApplyStep[] {
  const signals = desired.flatMap((each) => {
    const signal = names.includes(each.name) ? each.inPlace?.signal : undefined;
    return signal === undefined ? [] : [[each.name, signal]];
  });
  return signals.length === 0 ? [] : [{ kind: "signal", signals: Object.fromEntries(signals) }];
}

function scaleOf(names: readonly string[], input: ApplyInput): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, replicasOf(name, input)]));
}

function replicasOf(name: string, { desired }: ApplyInput): number {
  return desired.find((each) => each.name === name)?.expectation.replicas ?? 1;
}
