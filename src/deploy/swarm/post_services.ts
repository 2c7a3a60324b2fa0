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
import { objectAt, objectsAt, serviceOf, textAt } from "../../compose/mod.ts";
import { imageOf } from "./observed_services.ts";
import { postAgain } from "./post_again.ts";
import { serviceBody } from "./service_body.ts";
import { STACK_LABELS, type StackParts } from "./stack_parts.ts";
import type { StackRelease, StackRolloutParts } from "./stack_words.ts";
import type { WantedStack } from "./stack_of.ts";

/** Services of a stack to make or change. */
interface ToPost {
  readonly stack: WantedStack;
  readonly next: StackRelease;
  readonly object: StackParts["object"];
  readonly services: readonly ServicePlan[];
}

type PostParts = Pick<StackRolloutParts, "engine" | "swarm" | "requireOwn">;

/**
 * Makes and changes services, each by one call. Whose its volumes are is asked right before: another
 * stack may make one while the services before it are posted.
 */
export async function postServices(
  parts: PostParts,
  work: ToPost,
  signal: AbortSignal,
): Promise<void> {
  for (const plan of work.services) {
    try {
      await postAgain(() => post(parts, work, plan, signal));
    } catch (thrown) {
      signal.throwIfAborted();
      const { code, message } = toStackwrightError(thrown, "a call of the engine");
      throw new StackwrightError(code, `service ${plan.name}: ${message}`, { cause: thrown });
    }
  }
}

/** The release without volumes that a service does not mount. */
function withVolumesOf(service: string, release: Release): Release {
  const mounts = objectsAt(serviceOf(release.model, service), "volumes");
  const mounted = new Set(mounts.map((each) => textAt(each, "source")));
  const volumes = Object.entries(objectAt(release.model, "volumes"))
    .filter(([key]) => mounted.has(key));
  return { ...release, model: { ...release.model, volumes: Object.fromEntries(volumes) } };
}

async function post(
  { engine: { swarm }, swarm: { auth }, requireOwn }: PostParts,
  { stack, next, object }: ToPost,
  plan: ServicePlan,
  signal: AbortSignal,
): Promise<void> {
  const all = await swarm.services({ [STACK_LABELS.namespace]: stack.name }, signal);
  const existing = all.find(({ name }) => name === `${stack.name}_${plan.name}`);
  const service = next.release.services.find(({ name }) => name === plan.name);
  const image = own(next.images, plan.name) ?? keptImage(existing, service?.image ?? "");
  const images = image === undefined ? {} : { [plan.name]: image };
  const body = serviceBody(plan.name, { ...stack.parts, object, images });
  const change = { auth: await auth(service?.image ?? "") };
  await requireOwn(withVolumesOf(plan.name, next.release), signal);
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

/**
 * Whether tasks must be replaced although the template stays the same: they ended, or somebody
 * asked for it.
 */
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
