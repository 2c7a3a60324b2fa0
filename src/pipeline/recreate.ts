import { errors, type StackKey } from "../model/mod.ts";
import { whyLeft } from "../record/mod.ts";
import { requireNotOwnProject } from "../prepare/mod.ts";
import { type Begin, untilAsked } from "./decide/until_asked.ts";
import type { PipelineParts } from "./parts.ts";
import { carryOutTold, lost, prepareAgain, tellerOf } from "./rollout/deploy_again.ts";
import { asItsOwner } from "./waits.ts";

/**
 * Recreates containers of a stack from its deployed release, as a person asked: those of one
 * service, or all. Brings back what else is missing of the release, also in a stopped stack. The
 * caller holds the stack's lock, while no other process changes the stack: `moved` says that one did. Nothing
 * that runs is touched before files and images are there, and the running jobs that deployments wait for have
 * ended.
 *
 * Throws `conflict` when there is no such release, or its files cannot be had; `not_found` for an
 * unknown service; `timeout` where a job still runs after the stack's `timeout`; `deploy_failed` when the release does not become healthy.
 */
export async function recreate(
  parts: PipelineParts,
  key: StackKey,
  service: string | undefined,
  signal: AbortSignal,
): Promise<"done" | "moved"> {
  await requireNotOwnProject(parts.host, key, signal);
  const asked = attemptAnew.bind(null, parts, key, service);
  const work = (within: AbortSignal) => untilAsked(parts, key, asked, within);
  return await asItsOwner(parts, key, work, signal);
}

async function attemptAnew(
  parts: PipelineParts,
  key: StackKey,
  service: string | undefined,
  signal: AbortSignal,
  begin: Begin,
): Promise<"done" | "moved"> {
  const since = parts.ledger.mark(key);
  requireNotCutOff(parts.ledger, key, "recreated");
  const { wanted, asked } = askedAnew(parts, key, service);
  const teller = tellerOf(parts.listeners, wanted, "project");
  const progress = (text: string) => teller.tell({ kind: "step", text });
  const why = { kind: "recreated", asked } as const;
  const ready = await prepareAgain(parts, wanted, { why, progress }, signal);
  if (ready === undefined) {
    throw errors.conflict(`${lost(wanted)}: ${ANEW_BY_SOURCE}`);
  }
  const { message } = ready.plan;
  const work = { ...ready, removeOrphans: false, remembers: false, since };
  begin();
  return await carryOutTold(parts, teller, work, {
    wanted,
    decided: `a person asked for it over the API: ${message}`,
    done: `release ${wanted.number} again: ${message}`,
    doing: `making containers of ${key.name} anew`,
  }, signal);
}

/**
 * Refuses to act on, or to close, what a process left half done, which may be a rollback; `done` is what
 * was asked for. Throws `conflict`.
 */
export function requireNotCutOff(
  ledger: Pick<PipelineParts["ledger"], "isUnderWay" | "stops">,
  key: StackKey,
  done: string,
): void {
  if (!ledger.isUnderWay(key)) return;
  const until = ledger.stops.get(key) === undefined
    ? "the next poll or look at the stack finishes that"
    : "that is finished once the stack is started again";
  throw errors.conflict(
    `nothing of ${key.name} was ${done}: its last change was interrupted; ${until}: try again then`,
  );
}

/** The release to recreate containers from, and the services to recreate. */
function askedAnew({ ledger }: PipelineParts, key: StackKey, service: string | undefined) {
  const wanted = ledger.current(key);
  if (wanted === undefined || wanted.swarm !== undefined) {
    throw errors.conflict(
      `${key.name} has no release of containers that was deployed from here: ${ANEW_BY_SOURCE}`,
    );
  }
  const others = whyLeft(ledger, key);
  if (others !== undefined) {
    throw errors.conflict(`nothing of ${key.name} was recreated: ${others}`);
  }
  const names = ledger.services(wanted).map((each) => each.name);
  if (service !== undefined && !names.includes(service)) {
    throw errors.not_found(`service not found: ${key.name}/${service}`, {
      told: "service not found",
      problems: [{ file: "request", message: `the release has the services ${names.join(", ")}` }],
    });
  }
  return { wanted, asked: service === undefined ? names : [service] };
}

const ANEW_BY_SOURCE = "a deployment with force_recreate: true makes its containers anew";
