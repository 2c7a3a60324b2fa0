import type { ComposeModel, ReleaseService, ServicePlan } from "../model/mod.ts";
import { claimsOf, portsClash } from "./claims.ts";

/** One thing to do to an engine while a plan is carried out. */
export type ApplyStep =
  | { readonly kind: "remove"; readonly services: readonly string[] }
  /** Signals by service: their files changed in place. */
  | { readonly kind: "signal"; readonly signals: Readonly<Record<string, string>> }
  | {
    readonly kind: "up";
    readonly mode: "replace" | "complete";
    readonly scale: Readonly<Record<string, number>>;
    readonly noStart: boolean;
  };

/** What the steps are made from. */
export interface ApplyInput {
  readonly services: readonly ServicePlan[];
  readonly desired: readonly ReleaseService[];
  readonly model: ComposeModel;
  /** What runs now, where it is known: tells which ports and names removed services hold. */
  readonly previousModel: ComposeModel | undefined;
  /** Services that ran before: those that deployments do not start are started all the same then. */
  readonly running: ReadonlySet<string>;
}

/** The steps of a plan: those before the release is judged healthy, and those after. */
export interface ApplySteps {
  readonly before: readonly ApplyStep[];
  readonly after: readonly ApplyStep[];
}

/**
 * Orders a plan's changes. Services that only vanish go last, after the new ones proved healthy,
 * unless they hold a port or a container name that a new one needs.
 */
export function applySteps(input: ApplyInput): ApplySteps {
  const named = (actions: readonly string[]) =>
    input.services.filter((each) => actions.includes(each.action)).map((each) => each.name);
  const removed = named(["remove"]);
  const replaced = named(["recreate"]);
  const completed = named(["create", "scale", "start"]);
  const starts = [...replaced, ...completed];
  const inTheWay = removed.filter((name) => clashes(name, starts, input));
  const ups = [...upSteps("replace", replaced, input), ...upSteps("complete", completed, input)];
  const completeFirst = replaced.some((name) => dependsOnAny(name, completed, input.desired));
  return {
    before: [
      ...signalStep(named(["reload"]), input.desired),
      ...removeStep(inTheWay),
      ...(completeFirst ? ups.reverse() : ups),
    ],
    after: removeStep(removed.filter((name) => !inTheWay.includes(name))),
  };
}

function removeStep(services: readonly string[]): ApplyStep[] {
  return services.length === 0 ? [] : [{ kind: "remove", services }];
}

function signalStep(names: readonly string[], desired: readonly ReleaseService[]): ApplyStep[] {
  const signals = desired.flatMap((each) => {
    const signal = names.includes(each.name) ? each.inPlace?.signal : undefined;
    return signal === undefined ? [] : [[each.name, signal]];
  });
  return signals.length === 0 ? [] : [{ kind: "signal", signals: Object.fromEntries(signals) }];
}

function upSteps(
  mode: "replace" | "complete",
  names: readonly string[],
  input: ApplyInput,
): ApplyStep[] {
  const held = (name: string) =>
    input.desired.find((each) => each.name === name)?.expectation.autostart === false;
  const staysDown = (name: string) => held(name) && !input.running.has(name);
  const step = (noStart: boolean, group: readonly string[]): ApplyStep[] =>
    group.length === 0 ? [] : [{ kind: "up", mode, scale: scaleOf(group, input.desired), noStart }];
  return [
    ...step(false, names.filter((name) => !staysDown(name))),
    ...step(true, names.filter(staysDown)),
  ];
}

function scaleOf(names: readonly string[], desired: readonly ReleaseService[]) {
  const replicas = (name: string) =>
    desired.find((each) => each.name === name)?.expectation.replicas ?? 1;
  return Object.fromEntries(names.map((name) => [name, replicas(name)]));
}

function dependsOnAny(
  name: string,
  others: readonly string[],
  desired: readonly ReleaseService[],
): boolean {
  const dependencies = desired.find((each) => each.name === name)?.dependsOn ?? [];
  return dependencies.some((each) => others.includes(each));
}

/** Whether a removed service holds something on the host that a started one needs. */
function clashes(removed: string, started: readonly string[], input: ApplyInput): boolean {
  if (input.previousModel === undefined) return false;
  const held = claimsOf(input.previousModel, removed);
  return started.map((name) => claimsOf(input.model, name)).some((needed) =>
    held.names.some((name) => needed.names.includes(name)) ||
    held.ports.some((port) => needed.ports.some((other) => portsClash(port, other)))
  );
}
