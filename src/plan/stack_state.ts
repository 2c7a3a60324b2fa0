import {
  type Drift,
  formatDrift,
  type ObservedContainer,
  type ObservedStack,
  type Release,
  type ReleaseService,
  type TargetDecision,
} from "../model/mod.ts";
import { decide } from "./decide.ts";
import { listedDrift } from "./listed_drift.ts";

/** States of a stack, in one word. */
export const STACK_STATES = [
  "synced",
  "deploying",
  "waiting",
  "held",
  "orphaned",
  "drifted",
  "failed",
  "unknown",
] as const;

/** One member of {@link STACK_STATES}. */
export type StackState = (typeof STACK_STATES)[number];

/** Healths of the containers of a stack, taken together. */
export const STACK_HEALTHS = ["healthy", "starting", "unhealthy", "stopped", "unknown"] as const;

type StackHealth = (typeof STACK_HEALTHS)[number];

/** Everything a stack is judged by. */
export interface StackFacts {
  /** The release that is deployed. */
  readonly current:
    | {
      readonly number: number;
      readonly services: readonly ReleaseService[];
      /** Present for a stack of a swarm. */
      readonly swarm?: Release["swarm"];
    }
    | undefined;
  /** The last decision about it. */
  readonly decision: Pick<TargetDecision, "kind" | "reason" | "message"> | undefined;
  /** The failure that no success has followed yet. */
  readonly failure: { readonly message: string } | undefined;
  /** Whether a person put an earlier release back. */
  readonly isPinned: boolean;
  /** Whether a person stopped it. */
  readonly isStopped: boolean;
  /** The sentence about a person who holds it as it is. */
  readonly heldBack?: string;
  /** What is being done to it now. */
  readonly underWay?: string;
  /** What runs; `undefined` when the engine does not say. */
  readonly observed: ObservedStack | undefined;
  /** What only inspecting its containers, or services, showed to be changed by hand. */
  readonly changed?: readonly Drift[];
}

/** The state of a stack, and why it is that. */
export interface StackJudgement {
  readonly state: StackState;
  /** One sentence. */
  readonly why: string;
  readonly health: StackHealth;
  /** Containers that run, or ended as they may, of those that the release wants. */
  readonly running: number;
  readonly wanted: number;
  /** What is not as it was asked of the engine, as far as the engine says. */
  readonly drift: readonly Drift[];
}

/** Judges a stack. What goes on now comes first, then what a person has to know. */
export function judgeStack(facts: StackFacts): StackJudgement {
  const drift = differences(facts);
  return { ...stateOf(facts, drift), ...containersOf(facts), drift };
}

/** None while it is changed. What was inspected of a container that is gone is over. */
function differences({ current, observed, underWay, changed = [] }: StackFacts): Drift[] {
  if (current === undefined || observed === undefined || underWay !== undefined) return [];
  const ids = new Set(observed.containers.map((each) => each.id));
  const all = [...observed.containers, ...observed.idle ?? []];
  // Of a single host it is a volume that is gone, without which no container comes back.
  const isTold = (name: string) =>
    all.some(({ service }) => service === name) === (current.swarm !== undefined);
  return [
    ...listedDrift(current.services, observed),
    ...changed.filter(({ service, container }) =>
      container === undefined ? isTold(service) : ids.has(container.id)
    ),
  ];
}

function stateOf(
  facts: StackFacts,
  drift: readonly Drift[],
): { readonly state: StackState; readonly why: string } {
  const { current, decision, failure, underWay } = facts;
  const said = decision?.message ?? "";
  if (underWay !== undefined) return { state: "deploying", why: underWay };
  if (facts.isStopped) return { state: "held", why: "a person stopped it" };
  if (facts.heldBack !== undefined) return { state: "held", why: facts.heldBack };
  if (facts.isPinned) return { state: "held", why: pinned(said, decision?.reason) };
  // By its configuration; what else holds it is known, and over when it is not there any more.
  if (decision?.reason === "paused") return { state: "held", why: said };
  // What keeps it from being tried again is newer than what failed.
  if (decision?.kind === "error") return { state: "failed", why: said };
  if (decision?.reason === "unnamed") return { state: "orphaned", why: said };
  if (failure !== undefined) return { state: "failed", why: failure.message };
  if (decision?.reason === "sync_window") return { state: "waiting", why: said };
  if (current === undefined) return { state: "unknown", why: said || "nothing is deployed" };
  return driftOf(current, facts.observed, drift);
}

/** Until the next look at its source nothing has said yet what ends the pin. */
function pinned(said: string, reason = ""): string {
  if (reason.startsWith("paused")) return said;
  return `${said === "" ? "" : `${said}; `}an earlier release was put back, and stays until a ` +
    "commit with other inputs, or stackwright unpin";
}

function driftOf(
  { number, services }: NonNullable<StackFacts["current"]>,
  observed: ObservedStack | undefined,
  drift: readonly Drift[],
): { readonly state: StackState; readonly why: string } {
  if (observed === undefined) {
    return { state: "unknown", why: "the engine does not say what runs" };
  }
  const plan = decide({
    desired: services,
    observed,
    previous: services,
    policy: { forceRecreate: false, removeOrphans: false },
    images: {},
  });
  if (plan.kind !== "skip") {
    return { state: "drifted", why: `release ${number} needs: ${plan.message}` };
  }
  const ill = observed.containers.filter(({ health }) => health === "unhealthy");
  if (ill.length > 0) {
    return { state: "drifted", why: `unhealthy: ${ill.map(({ name }) => name).sort().join(", ")}` };
  }
  const [first] = drift;
  if (first !== undefined) {
    const more = drift.length === 1 ? "" : ` (and ${drift.length - 1} more)`;
    return { state: "drifted", why: `changed by hand: ${formatDrift(first)}${more}` };
  }
  return { state: "synced", why: `release ${number} runs` };
}

function containersOf(
  { current, observed }: StackFacts,
): Pick<StackJudgement, "health" | "running" | "wanted"> {
  const services = (current?.services ?? []).filter(({ expectation }) => expectation.autostart);
  const wanted = services.reduce((sum, { expectation }) => sum + expectation.replicas, 0);
  if (observed === undefined) return { health: "unknown", running: 0, wanted };
  const of = (service: ReleaseService) =>
    observed.containers.filter((each) => each.service === service.name);
  const running =
    services.flatMap((service) =>
      of(service).filter((each) => isFine(service, each)).slice(0, service.expectation.replicas)
    ).length;
  const health = healthOf(observed, running, wanted);
  // Without a release nothing is wanted, so that what is there, or is not, is no sign of health.
  const isVoid = health === "healthy" && current === undefined;
  return { health: isVoid ? "unknown" : health, running, wanted };
}

/** Runs, or ended in a way that the release allows. */
function isFine({ expectation }: ReleaseService, container: ObservedContainer): boolean {
  const { state, health, exitCode } = container;
  if (state === "running") return health !== "unhealthy";
  return state === "exited" && exitCode === 0 && (expectation.mayFinish || expectation.oneShot);
}

function healthOf({ containers }: ObservedStack, running: number, wanted: number): StackHealth {
  if (containers.some(({ health }) => health === "unhealthy")) return "unhealthy";
  if (containers.some(({ state }) => state === "restarting")) return "unhealthy";
  if (containers.some(({ health }) => health === "starting")) return "starting";
  if (running === 0 && wanted > 0) return "stopped";
  return running < wanted ? "unhealthy" : "healthy";
}
