/**
 * The mode of a stack: containers, or services of a swarm. When the configuration or the engine
 * asks for the other mode, the stack is changed to it: what ran is removed, its volumes stay.
 */
import {
  destroyServices,
  destroyStack,
  engineWasAway,
  imagesPresent,
  imagesToPoint,
  observe,
  observeServices,
  type ReleaseOnDisk,
  type RolloutResult,
  STACK_LABELS,
} from "../deploy/mod.ts";
import {
  COMPOSE_LABELS,
  errors,
  type ObservedStack,
  type Plan,
  type Release,
  type StackKey,
  type StackwrightError,
  toStackwrightError,
} from "../model/mod.ts";
import { planFor } from "../plan/mod.ts";
import { requireImages, type Target } from "../prepare/mod.ts";
import type { RecordedRelease } from "../record/ledger.ts";
import type { DecidedRollout, PipelineParts } from "./parts.ts";
import { type Owned, requireOwner } from "./destroy/require_owner.ts";
import { claimOf } from "./owner/claim.ts";
import { endRunsWith } from "./owner/end_others_runs.ts";
import { keeping } from "./owner/whose.ts";
import { managesServices, mayHaveServices } from "./decide/manages_services.ts";
import { wantedOwner } from "./stack_owner.ts";

/** The mode of a release: `swarm` is set for services of a swarm. */
export type Mode = Pick<Release, "swarm">;

/** Attempts at a removal or at putting a release back while the engine fails in the middle. */
const MOST_ATTEMPTS = 3;
/** Milliseconds before a release is put back again, multiplied by the number of attempts so far. */
const PAUSE_MS = 1000;
/** Name that the engine gives to an anonymous volume. */
const UNNAMED = /^[0-9a-f]{64}$/;

/** True for two releases both made of containers, or both of services of a swarm. */
export function isSameMode(a: Mode, b: Mode): boolean {
  return (a.swarm === undefined) === (b.swarm === undefined);
}

/**
 * Refuses a stack whose mode cannot be changed to that of the target, before anything is touched:
 * when something of its name is not Stackwright's and of this source, when no release of what runs
 * is recorded, or when data is in an anonymous volume, which no task would get.
 *
 * Throws `conflict`.
 */
export async function requireChangeableMode(
  parts: PipelineParts,
  target: Target,
  recorded: RecordedRelease | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { key, swarm } = target;
  const wanted: Mode = swarm === undefined ? {} : { swarm };
  if (recorded === undefined) {
    if (swarm === undefined && !await mayHaveServices(parts, key, signal)) return;
    const other: Mode = swarm === undefined ? { swarm: {} } : {};
    const [first] = (await ofMode(parts, key, other, signal)).map(({ name }) => name).sort();
    if (first === undefined) return;
    const how = swarm === undefined ? "true, and CONTAINER_SWARM_FEATURES not false" : "false";
    throw cannotChange(
      key,
      `${first} of that name runs, and no release of it is known; deploy it once as ` +
        `${wordsFor(other)} (swarm.enabled: ${how}), or remove it`,
    );
  }
  if (isSameMode(wanted, recorded)) return;
  const made = await ofMode(parts, key, wanted, signal);
  const isThere = recorded.swarm === undefined ||
    await managesServices(parts, key, recorded, signal);
  const all = [...made, ...isThere ? await ofMode(parts, key, recorded, signal) : []];
  const owned = { parts: all, claim: claimOf(parts.ledger, key), takes: false };
  requireOwner(key, wantedOwner(target), owned, `changed to ${wordsFor(wanted)}`);
  if (swarm !== undefined) await requireNamedVolumes(parts, key, signal);
}

/** Containers or services with a stack's name, also those that Stackwright did not deploy. */
export async function ofMode(
  { host }: Pick<PipelineParts, "host">,
  { name }: StackKey,
  { swarm }: Mode,
  signal: AbortSignal,
): Promise<Owned["parts"]> {
  if (swarm === undefined) {
    return await host.engine.listContainers({ [COMPOSE_LABELS.project]: name }, signal);
  }
  return await host.engine.swarm.services({ [STACK_LABELS.namespace]: name }, signal);
}

async function requireNamedVolumes(
  { host: { engine } }: Pick<PipelineParts, "host">,
  key: StackKey,
  signal: AbortSignal,
): Promise<void> {
  for (const { id, service } of (await observe(engine, { key }, signal)).containers) {
    const mounts = (await engine.inspectContainer(id, signal))?.mounts ?? [];
    const unnamed = mounts.find(({ kind, name }) => kind === "volume" && UNNAMED.test(name));
    if (unnamed === undefined) continue;
    throw cannotChange(
      key,
      `service ${service} has data at ${unnamed.destination} in a volume without a name, which a ` +
        "task of a swarm would not get; give it a name in the compose file and deploy that with " +
        "swarm.enabled: false, or destroy the stack first",
    );
  }
}

/** Refuses a release whose mode differs from the current one. Throws `conflict`. */
export function requireModeOf(key: StackKey, wanted: Mode, current: Mode): void {
  if (isSameMode(wanted, current)) return;
  throw cannotChange(
    key,
    `that release was ${wordsFor(wanted)}, and what runs is ${wordsFor(current)}; deploy it with ` +
      "swarm.enabled set to what it was",
  );
}

function cannotChange({ name }: StackKey, why: string): StackwrightError {
  const text = `${name} cannot change between containers and a swarm: ${why}. Nothing was changed`;
  return errors.conflict(text);
}

/** Words for a mode. */
export function wordsFor({ swarm }: Mode): string {
  return swarm === undefined ? "containers" : "services of a swarm";
}

/** The plan for a release that changes the mode: all its services are created. */
export function planOfChange(plan: Plan, wanted: Mode, current: Mode): Plan {
  if (plan.kind === "destroy" || isSameMode(wanted, current)) return plan;
  const how = `${wordsFor(current)} become ${wordsFor(wanted)}`;
  const services = plan.services.map((each) =>
    each.action === "create" ? { ...each, because: [how] } : each
  );
  const message = plan.kind === "skip" ? how : `${how}: ${plan.message}`;
  return { kind: "deploy", message, services };
}

/** A rollout that changes the mode. */
export interface ModeChange {
  readonly work: DecidedRollout;
  readonly recorded: RecordedRelease;
  /** The release before; absent where its files cannot be had any more. */
  readonly previous: ReleaseOnDisk | undefined;
  /** Rolls a release out after everything that ran was removed. */
  rollOut(work: DecidedRollout, way: "on" | "back"): Promise<RolloutResult>;
}

/**
 * Removes what runs in one mode and rolls a release out in the other. A failure puts the release
 * before back. Named volumes stay, and the new mode uses them. May be called again after an
 * interruption.
 *
 * Rejects only with the signal's reason.
 */
export async function changeMode(
  parts: PipelineParts,
  change: ModeChange,
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { work, recorded } = change;
  const { key } = recorded;
  const tried = await asResult(key, async () => {
    work.progress(`removing ${wordsFor(recorded)}`);
    const services = parts.ledger.services(recorded);
    await removeMode(parts, { ...recorded, services }, work, signal);
    return await change.rollOut(work, "on");
  }, signal);
  if (tried.kind === "deployed") return tried;
  const { error } = tried;
  const failed = (text: string): RolloutResult => ({ kind: "failed", error, text });
  if (!parts.options.rollback) return failed("DEPLOY_ROLLBACK is off: left as it is");
  const { previous } = change;
  if (previous === undefined) {
    return failed("the files of the release before cannot be had any more");
  }
  parts.log.warning("rolling back", { stack: key.name, context: key.context, error });
  const goingBack = () => goBack(parts, { ...change, previous }, signal);
  let back = await asResult(key, goingBack, signal);
  for (let attempt = 1; attempt < MOST_ATTEMPTS && isBadLuck(back); attempt++) {
    parts.log.warning("rolling back again", { stack: key.name, context: key.context });
    await parts.clock.sleep(PAUSE_MS * attempt, signal);
    back = await asResult(key, goingBack, signal);
  }
  if (back.kind === "deployed") {
    const what = previous.release.services.map(({ name }) => name).join(", ");
    const text = `the previous release was put back: restored ${what}`;
    return { kind: "rolled_back", error, text };
  }
  return failed(`putting the previous release back failed too: ${back.error.message}`);
}

/** Whether another attempt may succeed: a call failed, and not the health of the release. */
function isBadLuck(end: RolloutResult): boolean {
  return end.kind !== "deployed" && end.error.code !== "unhealthy";
}

async function goBack(
  parts: PipelineParts,
  { work, recorded, previous, rollOut }: ModeChange & { readonly previous: ReleaseOnDisk },
  signal: AbortSignal,
): Promise<RolloutResult> {
  const { next: { release: failed }, progress } = work;
  work.ask?.();
  signal.throwIfAborted();
  const { release } = previous;
  progress("rolling back");
  await removeMode(parts, failed, work, signal);
  const observed = await observe(parts.host.engine, release, signal);
  const why = { kind: "taken_back", failed: failed.services, removeOrphans: false } as const;
  const { services } = planFor(release, observed, why);
  await pointImages(parts, release, recorded.images, signal);
  const needed = { services, progress, images: recorded.images };
  const required = await requireImages(parts, previous, needed, signal);
  // Containers are made by id: who has a name that nothing here builds may have moved it since.
  const images = release.swarm !== undefined
    ? required
    : await imagesPresent(parts.host.engine, release.services, recorded.images, signal);
  const timeoutSeconds = Math.max(work.timeoutSeconds, release.timeoutSeconds);
  const back = { ...work, next: previous, services, verify: [], observed, images, timeoutSeconds };
  return await rollOut(back, "back");
}

/** Points names at the images of a release, as {@link imagesToPoint} has them. */
export async function pointImages(
  { host }: PipelineParts,
  release: Pick<Release, "swarm" | "model" | "services">,
  images: RecordedRelease["images"],
  signal: AbortSignal,
): Promise<void> {
  if (release.swarm !== undefined) return;
  const pointed = await imagesToPoint(host.engine, release, images, signal);
  await host.images.point(release.services, pointed, signal);
}

/** Removes what runs of a stack in the mode of a release, but its volumes. */
async function removeMode(
  parts: PipelineParts,
  { key, swarm, services }: Pick<Release, "key" | "swarm" | "services">,
  { progress }: Pick<DecidedRollout, "progress">,
  signal: AbortSignal,
): Promise<void> {
  const { host, clock, log, ledger } = parts;
  const { engine } = host;
  const all = { key, removeVolumes: false, whyKept: keeping(claimOf(ledger, key)) };
  for (let attempt = 1;; attempt++) {
    try {
      if (swarm === undefined) {
        await endRunsWith(parts, all, ["containers"], signal);
        const dependsOn = Object.fromEntries(services.map((each) => [each.name, each.dependsOn]));
        return void await destroyStack(engine, { ...all, dependsOn, removeImages: false }, signal);
      }
      if (!await managesServices({ host }, key, { swarm }, signal)) return;
      await endRunsWith(parts, all, ["services"], signal);
      return void await destroyServices({ engine, clock }, all, signal);
    } catch (error) {
      signal.throwIfAborted();
      const wasAway = await engineWasAway({ engine, clock, log, progress }, error, signal);
      if (!wasAway || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

async function asResult(
  { name }: StackKey,
  work: () => Promise<RolloutResult>,
  signal: AbortSignal,
): Promise<RolloutResult> {
  try {
    return await work();
  } catch (thrown) {
    signal.throwIfAborted();
    return { kind: "failed", error: toStackwrightError(thrown, `deploying ${name}`), text: "" };
  }
}

/** Containers and services of a stack, whatever its mode is. */
export async function observeAnyway(
  { host, ledger }: Pick<PipelineParts, "host" | "ledger">,
  key: StackKey,
  signal: AbortSignal,
): Promise<ObservedStack> {
  const made = await observe(host.engine, { key }, signal);
  if (!await managesServices({ host }, key, ledger.current(key), signal)) return made;
  const { idle = [], ...observed } = await observeServices(host.engine, key, signal);
  const containers = [...made.containers, ...observed.containers];
  return { ...observed, containers, ...(idle.length === 0 ? {} : { idle }) };
}
