import { imagesPresent, observe, type ReleaseOnDisk } from "../../deploy/mod.ts";
import {
  errors,
  type ObservedStack,
  type Plan,
  type Progress,
  type TargetEnd,
  type TargetListener,
} from "../../model/mod.ts";
import { otherImages, planFor, type Why } from "../../plan/mod.ts";
import { requireImages, stage } from "../../prepare/mod.ts";
import type { RecordedRelease } from "../../record/ledger.ts";
import { createTeller, type Teller } from "../../tell/mod.ts";
import { waitForJobs } from "../act.ts";
import { carryOut, type MarkedRollout } from "../carry_out.ts";
import { endOf } from "../decision.ts";
import { tellingOthers } from "../owner/others_release.ts";
import { requireFree } from "../owner/require_free.ts";
import type { PipelineParts } from "../parts.ts";
import { bringToDisk } from "../placed_files.ts";
import { pointImages } from "../stack_mode.ts";

/** The teller of a person's request for a recorded release. */
export function tellerOf(
  listeners: readonly TargetListener[],
  { key, revision }: RecordedRelease,
  trigger: "rollback" | "project",
): Teller {
  const told = { key, repository: revision.source.name, trigger, origin: "manual" } as const;
  return createTeller(listeners, told, revision);
}

/** Text that says that the files of a release are gone. */
export function lost({ number, key }: RecordedRelease): string {
  return `release ${number} of ${key.name}: its files are neither on disk nor in the mirror`;
}

/** A recorded release that is ready to be rolled out again. */
export interface ReadyAgain {
  readonly onDisk: ReleaseOnDisk;
  readonly observed: ObservedStack;
  readonly plan: Plan;
  /** Images that the release ran and that are still on the engine; in a swarm, all that it ran. */
  readonly images: Readonly<Record<string, string>>;
}

/**
 * Files, images and plan of a recorded release, once the running jobs that a deployment waits for have ended;
 * `undefined` when its files are lost. Throws `timeout`.
 */
export async function prepareAgain(
  parts: PipelineParts,
  wanted: RecordedRelease,
  { why, progress }: { readonly why: Why; readonly progress: Progress },
  signal: AbortSignal,
): Promise<ReadyAgain | undefined> {
  const { key, images, timeoutSeconds } = wanted;
  const onDisk = await bringToDisk(parts, wanted, signal);
  if (onDisk === undefined) return undefined;
  progress("looking at what runs");
  await pointImages(parts, onDisk.release, images, signal);
  const observed = await observe(parts.host.engine, wanted, signal);
  const planned = planFor(onDisk.release, observed, why);
  const plan = tellingOthers(parts, key, planned, observed);
  await requireFree(parts, onDisk.release, { plan, observed }, signal);
  await requireImages(parts, onDisk, { services: plan.services, progress, images }, signal);
  const ran = wanted.swarm === undefined
    ? await imagesPresent(parts.host.engine, onDisk.release.services, images, signal)
    : images;
  const deployment = { ...parts.ledger.reconciliations.forReleases(key), timeoutSeconds };
  await waitForJobs(parts, { ...wanted, deployment, progress }, signal);
  return { onDisk, observed, plan, images: ran };
}

/** Words about a release that is rolled out again. */
interface SaidAgain {
  readonly wanted: RecordedRelease;
  readonly decided: string;
  readonly done: string;
  /** What was attempted, for errors: `rolling shop back`. */
  readonly doing: string;
}

/**
 * Rolls a recorded release out again, and tells what becomes of it. Throws `deploy_failed`; returns
 * `moved` when another process changed the stack meanwhile.
 */
export async function carryOutTold(
  parts: PipelineParts,
  teller: Teller,
  { onDisk, plan, observed, images, ...work }:
    & ReadyAgain
    & Pick<MarkedRollout, "removeOrphans" | "undone" | "remembers" | "since" | "pin">,
  { wanted, decided, done, doing }: SaidAgain,
  signal: AbortSignal,
): Promise<"done" | "moved"> {
  const rollout = {
    ...work,
    next: onDisk,
    again: wanted,
    services: plan.services,
    observed,
    images,
    pruneImages: false,
    timeoutSeconds: wanted.timeoutSeconds,
    automatic: false,
    progress: (text: string) => teller.tell({ kind: "step", text }),
    note: done,
    starts: true,
  };
  teller.begin("deploy", decided, plan.services);
  let end: TargetEnd;
  try {
    const carry = () => carryOut(parts, rollout, signal);
    const result = await stage(parts, teller.target, "deploy", carry);
    if (result === undefined) return "moved";
    const others = result.kind === "deployed" ? otherImages(wanted, result.images) : "";
    end = endOf(result, `${done}${others}`);
    teller.tell({ kind: "ended", end });
  } catch (thrown) {
    teller.fail(doing, thrown, signal);
    throw thrown;
  }
  if (end.status === "failed") throw errors.deploy_failed(end.message);
  return "done";
}
