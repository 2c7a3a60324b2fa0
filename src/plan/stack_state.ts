import {
  type Drift,
  fewOf,
  formatDrift,
  isOrphan,
  type ObservedContainer,
  type ObservedStack,
  type Release,
  type ReleaseService,
  type TargetDecision,
} from "../model/mod.ts";
import { listedDrift } from "./listed_drift.ts";
import type { RestartLoop } from "./engine_restarts.ts";
import { heldWords } from "./held_words.ts";
import { leftAlone } from "./left_alone.ts";
import { planFor } from "./plan_for.ts";
import type { StackHealth, StackState } from "./stack_states.ts";

/** All facts for judging a stack. */
export interface StackFacts {
  /** The deployed release. */
  readonly current:
    | Pick<Release, "services" | "inactive" | "swarm"> & { readonly number: number }
    | undefined;
  /** The last decision about the stack. */
  readonly decision:
    | Pick<TargetDecision, "kind" | "reason" | "code" | "message" | "outcome">
      & Partial<Pick<TargetDecision, "trigger">>
    | undefined;
  /** The failure that no success has followed. */
  readonly failure: { readonly message: string } | undefined;
  /** Whether a person rolled the stack back. */
  readonly isPinned: boolean;
  /** Sentence about a person who stopped the stack. */
  readonly stopped?: string;
  /** Sentence about a person who holds the stack as it is. */
  readonly heldBack?: string;
  /** Sentence about another context of its engine that has deployed the stack since. */
  readonly elsewhere?: string;
  /** What a run is doing to the stack now. */
  readonly underWay?: string;
  /** Sentence about a change whose process ended before it was done. */
  readonly interrupted?: string;
  /** Observed containers; `undefined` when the engine does not answer. */
  readonly observed: ObservedStack | undefined;
  /** Why nothing was observed; known where the engine was asked in vain. */
  readonly unseen?: string;
  /** Drift that took inspecting containers or services. */
  readonly changed?: readonly Drift[];
  /** Containers that the engine starts again and again. */
  readonly loops?: readonly RestartLoop[];
}

/** The state of a stack, with the reason. */
export interface StackJudgement {
  readonly state: StackState;
  /** One sentence. */
  readonly why: string;
  /** How what runs of a held stack differs from its release, unless a person stopped it. */
  readonly drifted?: string;
  readonly health: StackHealth;
  /** Containers of the release that run well; `undefined` when the engine does not answer. */
  readonly running: number | undefined;
  /** Further ones that ended with 0, as they may; `undefined` as `running` is. */
  readonly finished: number | undefined;
  readonly wanted: number;
  /** Differences from the release, as far as the engine shows them. */
  readonly drift: readonly Drift[];
}

/** The sentence about a stack of which nothing is deployed, and nothing else is known. */
export const NOTHING_DEPLOYED =
  "nothing is deployed; what a repository still describes comes back at its next poll or webhook, " +
  "unless it has destroy: true";

/** Judges a stack. Work that is under way comes first, then what people must act on. */
export function judgeStack(asked: StackFacts): StackJudgement {
  const { rest: observed, told } = leftAlone(asked.current, asked.observed);
  const facts = { ...asked, observed };
  const drift = differences(facts);
  const counts = containersOf(facts);
  const judged = stateOf(facts, drift, counts);
  const isLeft = judged.state === "held" && facts.stopped === undefined;
  const beside = isLeft && facts.current && driftOf(facts.current, facts, drift, counts);
  const drifted = beside && beside.state === "drifted" ? { drifted: beside.why } : {};
  const why = judged.why + (["synced", "drifted"].includes(judged.state) ? told : "");
  return { ...judged, why, ...drifted, ...counts, drift };
}

/**
 * Empty during a rollout, after one that was interrupted, and where another context has the stack. Leaves
 * out inspected drift of containers that are gone.
 */
function differences(
  { current, observed, underWay, interrupted, elsewhere, changed = [] }: StackFacts,
): Drift[] {
  if (current === undefined || observed === undefined) return [];
  if ((underWay ?? interrupted ?? elsewhere) !== undefined) return [];
  const ids = new Set(observed.containers.map((each) => each.id));
  const all = new Set(
    [...observed.containers, ...observed.idle ?? []].map(({ service }) => service),
  );
  // Without a container: a swarm's service, if it exists; else a lost volume, if it keeps one out.
  const isTold = (name: string) => all.has(name) === (current.swarm !== undefined);
  return [
    ...listedDrift(current, observed),
    ...changed.filter(({ service, container }) =>
      container === undefined ? isTold(service) : ids.has(container.id)
    ),
  ];
}

function stateOf(
  facts: StackFacts,
  drift: readonly Drift[],
  counts: Counts,
): { readonly state: StackState; readonly why: string } {
  const { current, decision, failure, underWay } = facts;
  const said = decision?.message ?? "";
  if (underWay !== undefined) return { state: "deploying", why: underWay };
  if (facts.elsewhere !== undefined) return { state: "orphaned", why: facts.elsewhere };
  // What was interrupted is not taken up before a person starts the stack again.
  if (facts.stopped !== undefined) {
    return { state: "held", why: facts.stopped + runningAgain(facts.observed) };
  }
  if (facts.interrupted !== undefined) return { state: "failed", why: facts.interrupted };
  if (facts.heldBack !== undefined) {
    return { state: "held", why: heldWords(facts.heldBack, facts) };
  }
  if (facts.isPinned) return { state: "held", why: pinned(facts) };
  // Paused by configuration. Any other pause has facts of its own, and has ended without them.
  if (decision?.reason === "paused") return { state: "held", why: said };
  // The error of a later decision beats the recorded failure.
  // An unreachable engine says nothing about the stack.
  if (decision?.kind === "error" && decision.code !== "engine_unreachable") {
    return { state: "failed", why: said };
  }
  if (decision?.reason === "unnamed") return { state: "orphaned", why: said };
  if (failure !== undefined) return { state: "failed", why: failure.message };
  const isDecided = decision?.kind === "deploy" && decision.outcome === undefined;
  if (decision?.reason === "sync_window" || isDecided) return { state: "waiting", why: said };
  if (current === undefined) {
    return { state: "unknown", why: isOfHold(decision) ? NOTHING_DEPLOYED : said };
  }
  return driftOf(current, facts, drift, counts);
}

/** The end of the sentence about a stopped stack of which something runs: engines start what has `restart: always`. */
function runningAgain(observed: ObservedStack | undefined): string {
  const running = observed?.containers.filter(({ state }) => state === "running") ?? [];
  if (running.length === 0) return "";
  return `; ${
    fewOf(running.map(({ name }) => name).sort())
  } runs all the same: the engine started it ` +
    "again as it started itself (restart: always), or a person did; stop the project once more";
}

/** Words for a pinned stack, also before the next run has decided about the pin. */
function pinned({ decision, current }: StackFacts): string {
  const { message: said = "", reason = "", outcome } = decision ?? {};
  if (reason.startsWith("paused")) return said;
  // What was tried after that, and taken back, is not what runs.
  const failed = outcome?.status === "failed"
    ? `; that failed, release ${current?.number} runs`
    : "";
  const before = said === "" ? "" : `${said}${failed}; `;
  return `${before}an earlier release was put back, and stays until a ` +
    "commit with other inputs, or stackwright unpin";
}

/** Whether the last look was at what held the stack, which is over: nobody has looked at newer commits since. */
function isJustOpen(decision: NonNullable<StackFacts["decision"]>): boolean {
  const { kind, trigger } = decision;
  return isOfHold(decision) || trigger === "rollback" && kind !== "error";
}

/** Whether a decision says nothing but what held the stack, or there is none. */
function isOfHold(decision: StackFacts["decision"]): boolean {
  return decision === undefined ||
    decision.kind === "skip" && decision.reason?.startsWith("paused:") === true;
}

function driftOf(
  { number, services }: NonNullable<StackFacts["current"]>,
  { observed, unseen = "the engine does not say what runs", loops, decision }: StackFacts,
  drift: readonly Drift[],
  counts: Counts,
): { readonly state: StackState; readonly why: string } {
  if (observed === undefined) return { state: "unknown", why: unseen };
  const plan = planFor({ services }, observed, { kind: "repaired" });
  const down = whatIsDown(services, observed, loops);
  if (plan.kind !== "skip") {
    const needs = `release ${number} needs: ${plan.message}`;
    return { state: "drifted", why: down === "" ? needs : `${down}; ${needs}` };
  }
  const ill = observed.containers.filter(({ health }) => health === "unhealthy");
  if (ill.length > 0) {
    const names = ill.map(({ name }) => name).sort();
    return { state: "drifted", why: `unhealthy: ${fewOf(names)}` };
  }
  // The engine starts these again by itself, or is about to remove them: nothing can be done to them.
  const { running = 0, finished = 0, wanted } = counts;
  if (down !== "" && running + finished < wanted) {
    const why = `${running} of ${wanted - finished} containers run well: ${down}`;
    return { state: "drifted", why };
  }
  const more = drift.length < 2 ? "" : ` (and ${drift.length - 1} more)`;
  const changed = drift.find((each) => !isOrphan(each));
  if (changed !== undefined) {
    return { state: "drifted", why: `changed by hand: ${formatDrift(changed)}${more}` };
  }
  // An adoption leaves them there on purpose.
  const [orphan] = drift;
  const kept = orphan === undefined ? "" : `; ${formatDrift(orphan)}${more}`;
  const why = `release ${number} ${howItRuns(counts)}${kept}`;
  if (decision === undefined || !isJustOpen(decision)) return { state: "synced", why };
  return { state: "waiting", why: `${why}; the next poll looks at newer commits, or apply now` };
}

/** Most containers that a reason names. */
const MOST_NAMED = 3;

/** Names containers that do not run well and should, and how they ended; empty where there is none. */
function whatIsDown(
  services: readonly ReleaseService[],
  { containers }: ObservedStack,
  loops: StackFacts["loops"],
): string {
  const down = services.filter(({ expectation }) => expectation.autostart).flatMap((service) =>
    containers.filter((each) =>
      each.service === service.name && !mayBeOver(service, each) &&
      (each.state !== "running" || loopOf(each, loops) !== undefined)
    )
  );
  const said = down.slice(0, MOST_NAMED).map((each) => {
    const { name, state, exitCode } = each;
    const loop = loopOf(each, loops);
    if (loop !== undefined) {
      return loop.hasCode === true || exitCode === undefined
        ? loop.said
        : `${loop.said}, exit ${exitCode}`;
    }
    const how = state === "exited" ? "exited" : `is ${state}`;
    if (exitCode === undefined) return `${name} ${how}`;
    return `${name} ${how}${state === "exited" ? "" : ", exited"} with ${exitCode}`;
  });
  const more = down.length - MOST_NAMED;
  return [...said, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function loopOf({ id }: ObservedContainer, loops: StackFacts["loops"]): RestartLoop | undefined {
  return loops?.find((each) => each.id === id);
}

/** What may be said of a release without drift: not all that it wants has to run. */
function howItRuns({ health, finished = 0, wanted }: Counts): string {
  if (health === "finished") {
    return wanted === 0 ? "is there; nothing of it has to run now" : "has ended with 0";
  }
  return `runs${finished === 0 ? "" : `; ${finished} of ${wanted} containers ended with 0`}`;
}

/** What the containers of a stack do. */
type Counts = Pick<StackJudgement, "health" | "running" | "finished" | "wanted">;

function containersOf(
  { current, observed, stopped, loops }: StackFacts,
): Counts {
  const services = (current?.services ?? []).filter(({ expectation }) => expectation.autostart);
  const wanted = services.reduce((sum, { expectation }) => sum + expectation.replicas, 0);
  if (observed === undefined) {
    return { health: "unknown", running: undefined, finished: undefined, wanted };
  }
  const of = (service: ReleaseService) =>
    observed.containers.filter((each) => each.service === service.name);
  // What a person stopped may have ended with 0, too.
  const isFine = (service: ReleaseService, each: ObservedContainer) =>
    runsWell(each) && loopOf(each, loops) === undefined ||
    stopped === undefined && mayBeOver(service, each);
  const fine = services.flatMap((service) =>
    of(service).filter((each) => isFine(service, each)).slice(0, service.expectation.replicas)
  );
  const running = fine.filter(runsWell).length;
  const counts = { running, finished: fine.length - running, wanted };
  // It was up a moment ago, and may be now: it is not stopped.
  const isLooping = observed.containers.some((each) => loopOf(each, loops) !== undefined);
  const health = isLooping ? "unhealthy" : healthOf(observed, counts);
  // Without a release no container is wanted, so what runs says nothing about health.
  const isVoid = (health === "healthy" || health === "finished") && current === undefined;
  return { ...counts, health: isVoid ? "unknown" : health };
}

function runsWell({ state, health }: ObservedContainer): boolean {
  return state === "running" && health !== "unhealthy";
}

function mayBeOver(service: ReleaseService, { state, exitCode }: ObservedContainer): boolean {
  const { mayFinish, oneShot } = service.expectation;
  return state === "exited" && exitCode === 0 && (mayFinish || oneShot);
}

function healthOf(
  { containers }: ObservedStack,
  { running, finished, wanted }: Record<"running" | "finished" | "wanted", number>,
): StackHealth {
  if (containers.some(({ health }) => health === "unhealthy")) return "unhealthy";
  if (containers.some(({ state }) => state === "restarting")) return "unhealthy";
  if (containers.some(({ health }) => health === "starting")) return "starting";
  const fine = running + finished;
  if (fine < wanted) return fine === 0 ? "stopped" : "unhealthy";
  // Jobs wait for their times, and services may have no replicas.
  const isIdle = wanted === 0 && !containers.some(({ state }) => state === "running");
  return running === 0 && finished > 0 || isIdle ? "finished" : "healthy";
}
