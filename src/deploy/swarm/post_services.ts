import type { ServiceBody } from "../../docker/swarm_bodies.ts";
import type { SwarmService } from "../../docker/swarm.ts";
import { asNumber, asRecord } from "../../docker/json.ts";
import {
  LABELS,
  own,
  type Release,
  type ReleaseService,
  type ServicePlan,
  StackwrightError,
  toStackwrightError,
} from "../../model/mod.ts";
import { objectAt, resourcesOf } from "../../compose/mod.ts";
import { usedBy } from "../engine/ensure_resources.ts";
import { imageOf } from "./observed_services.ts";
import { postAgain } from "./post_again.ts";
import { serviceBody } from "./service_body.ts";
import { STACK_LABELS, type StackParts } from "./stack_parts.ts";
import type { StackRelease, StackRolloutParts } from "./stack_words.ts";
import type { WantedStack } from "./stack_of.ts";
import { volumesOfTasks } from "./volumes_of_tasks.ts";

/** Services of a stack to make or change. */
interface ToPost {
  readonly stack: WantedStack;
  readonly next: StackRelease;
  readonly object: StackParts["object"];
  readonly services: readonly ServicePlan[];
}

type PostParts = Pick<StackRolloutParts, "engine" | "swarm" | "requireOwn">;

/**
 * Makes and changes services, each by one call. Whose its volumes and networks are is asked right
 * before: another stack may make one while the services before it are posted. Those that a service
 * of this stack has already are nobody else's to make.
 */
export async function postServices(
  parts: PostParts,
  work: ToPost,
  signal: AbortSignal,
): Promise<void> {
  const label = { [STACK_LABELS.namespace]: work.stack.name };
  const own = await parts.engine.swarm.services(label, signal);
  const ids = new Map(own.map(({ name, id }) => [name, id]));
  // The node fills templates in, which stay as they are written here.
  const had = new Set(volumesOfTasks(own, "").map(({ name }) => `volumes ${name}`));
  for (const plan of work.services) {
    const id = ids.get(`${work.stack.name}_${plan.name}`);
    const asked = withPartsOf(plan.name, work.next.release, had);
    try {
      await postAgain(() => post(parts, work, { plan, id, asked }, signal));
      for (const kind of ASKED) {
        for (const { name } of resourcesOf(asked.model, kind)) had.add(`${kind} ${name}`);
      }
    } catch (thrown) {
      signal.throwIfAborted();
      const { code, message } = toStackwrightError(thrown, "a call of the engine");
      throw new StackwrightError(code, `service ${plan.name}: ${message}`, { cause: thrown });
    }
  }
}

/** What may be another stack's. */
const ASKED = ["volumes", "networks"] as const;

/** The release with the volumes and networks of one service that the stack has not `had`. */
function withPartsOf(service: string, release: Release, had: ReadonlySet<string>): Release {
  const { mounted, joined } = usedBy(release.model, [service]);
  const used = { volumes: mounted, networks: joined };
  const asked = ASKED.map((kind) => {
    const all = objectAt(release.model, kind);
    const keys = resourcesOf(release.model, kind)
      .filter(({ key, name }) => used[kind].has(key) && !had.has(`${kind} ${name}`));
    return [kind, Object.fromEntries(keys.map(({ key }) => [key, all[key]]))];
  });
  return { ...release, model: { ...release.model, ...Object.fromEntries(asked) } };
}

async function post(
  { engine: { swarm }, swarm: { auth }, requireOwn }: PostParts,
  { stack, next, object }: ToPost,
  { plan, id, asked }: {
    readonly plan: ServicePlan;
    /** Of the service that is there. */
    readonly id: string | undefined;
    /** The release with the volumes and networks that are asked for. */
    readonly asked: Release;
  },
  signal: AbortSignal,
): Promise<void> {
  const existing = id === undefined ? undefined : await swarm.service(id, signal);
  const service = next.release.services.find(({ name }) => name === plan.name);
  const image = own(next.images, plan.name) ?? keptImage(existing, service?.image ?? "");
  const images = image === undefined ? {} : { [plan.name]: image };
  const body = serviceBody(plan.name, { ...stack.parts, object, images });
  const change = { auth: await auth(service?.image ?? "") };
  await requireOwn(asked, signal);
  if (existing === undefined || modeName(existing) !== Object.keys(body.Mode)[0]) {
    // A swarm cannot change the mode of a service.
    if (existing !== undefined) await swarm.removeService(existing.id, signal);
    return void await swarm.createService({ ...change, body }, signal);
  }
  const forced = withForce(body, existing, isForced(plan, body, existing, service));
  await swarm.updateService(existing, { ...change, body: forced }, signal);
}

/** The image that a service runs now, if it was made from the same reference. */
function keptImage(existing: SwarmService | undefined, named: string): string | undefined {
  if (existing === undefined || existing.labels[STACK_LABELS.image] !== named) return undefined;
  return imageOf(existing) || undefined;
}

function modeName({ spec }: SwarmService): string {
  return Object.keys(asRecord(spec["Mode"]))[0] ?? "Replicated";
}

/** Whether tasks are replaced although their template stays: they ended, or it was asked for. */
function isForced(
  { action }: ServicePlan,
  body: ServiceBody,
  existing: SwarmService,
  service: ReleaseService | undefined,
): boolean {
  if (body.Mode !== undefined && ("ReplicatedJob" in body.Mode || "GlobalJob" in body.Mode)) {
    return false;
  }
  if (action === "start") return true;
  if (action === "reload") return service?.inPlace?.signal !== undefined;
  return action === "recreate" &&
    existing.labels[LABELS.digest] === body.Labels[LABELS.digest] &&
    imageOf(existing) === body.TaskTemplate.ContainerSpec.Image;
}

/** Body with the counter that forces a swarm to replace tasks; the counter never decreases. */
function withForce(body: ServiceBody, { spec }: SwarmService, isForced: boolean): ServiceBody {
  const before = asNumber(asRecord(spec["TaskTemplate"])["ForceUpdate"]) ?? 0;
  const ForceUpdate = before + (isForced ? 1 : 0);
  if (ForceUpdate === 0) return body;
  return { ...body, TaskTemplate: { ...body.TaskTemplate, ForceUpdate } };
}
