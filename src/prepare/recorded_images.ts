import {
  buildersOf,
  claimsOf,
  clashes,
  containerNames,
  rangesOf,
  requirePullable,
} from "../compose/mod.ts";
import {
  type ReleaseOnDisk,
  requireExternals,
  requirePlainHooks,
  requireStackParts,
} from "../deploy/mod.ts";
import {
  COMPOSE_LABELS,
  type ComposeModel,
  errors,
  fewOf,
  formatStackArguments,
  formatStackKey,
  imagesOf,
  inShell,
  isOurs,
  type ObservedStack,
  own,
  type Plan,
  type Progress,
  type Release,
  type ReleaseService,
  type ServicePlan,
  type StackwrightError,
} from "../model/mod.ts";
import { isOneOff } from "../docker/containers.ts";
import { NETWORK_ID } from "../docker/resources.ts";
import { composeCall } from "./compose_call.ts";
import type { PrepareParts } from "./parts.ts";
import { requireShortList } from "./short_list.ts";
import { pullSideImages } from "./side_images.ts";
import { resolveImages } from "./swarm_images.ts";
import { takenByPrograms } from "./taken_ports.ts";

/**
 * Ensures that the engine has the images of a recorded release: pulls missing ones. Built images
 * cannot be built again from the ledger. Returns the images of a stack with their digests.
 *
 * Throws `pull_failed`, `build_failed` for a built image that is gone, also where its name leads to
 * another one, and what {@link requireExternals}, {@link requirePlainHooks},
 * {@link requireStackParts} and {@link requireShortList} throw.
 */
export async function requireImages(
  parts: PrepareParts,
  onDisk: ReleaseOnDisk,
  { services, progress, images = {} }: {
    readonly services: readonly ServicePlan[];
    readonly progress: Progress;
    /** Images that the release ran, by service; used when a name has no image any more. */
    readonly images?: Readonly<Record<string, string>>;
  },
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  if (onDisk.release.swarm !== undefined) {
    return await stackImages(parts, onDisk, services, images, signal);
  }
  const acting = new Set(starting(services, ["create", "recreate", "scale", "start"]));
  const needed = onDisk.release.services.filter((each) =>
    acting.has(each.name) && each.image !== "" && each.expectation.replicas > 0
  );
  const made = needed.map(({ name }) => name);
  await requireExternals(parts.host.engine, onDisk.release.model, made, signal);
  const missing: ReleaseService[] = [];
  const isThere = async (image: string) =>
    await parts.host.engine.imageId(image, signal) !== undefined;
  const making = new Set(starting(services, ["create", "recreate", "scale"]));
  const builders = buildersOf(onDisk.release.model);
  for (const service of needed) {
    for (const { name, image } of imagesOf(service)) {
      const isOwn = name === service.name;
      // Older versions recorded of builds of its own alone that they give it.
      const builds = isOwn && service.builds || builders(service.name, image).length > 0;
      if (!builds && !isOwn) continue;
      const ran = own(images, name);
      // The name of what is built leads to what the newest release built: another program.
      const isNamed = !builds || ran === undefined || !making.has(service.name);
      if (isNamed && await isThere(image)) continue;
      if (ran !== undefined && await isThere(ran)) continue;
      if (builds) throw goneForGood(onDisk.release, { name: service.name, image });
      requirePullable(onDisk.release, [service]);
      missing.push(service);
    }
  }
  if (needed.length === 0) return {};
  const call = composeCall(parts, onDisk);
  const project = { ...call.project, directory: onDisk.tree };
  const { key, timeoutSeconds } = onDisk.release;
  const wanted = { key, services: missing, call: { ...call, project }, timeoutSeconds, progress };
  await parts.host.images.pull(wanted, signal);
  await pullSideImages(parts, onDisk.release, { ...wanted, services: needed }, signal);
  await requirePlainHooks(parts.host.engine, onDisk.release, needed, signal);
  // Their names may have got another meaning since the release was deployed.
  const pulled = { services: missing, known: new Map() };
  await requireShortList(parts.host.engine, onDisk.release, pulled, signal);
  return {};
}

/** Images of a stack: digests from the ledger, or from the registry for services without one. */
async function stackImages(
  parts: PrepareParts,
  { release }: ReleaseOnDisk,
  plan: readonly ServicePlan[],
  images: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const made = starting(plan, ["create", "recreate"]);
  await requireStackParts(parts, release, made, signal);
  const services = made.filter((name) => own(images, name) === undefined);
  return { ...images, ...await resolveImages(parts, { release, services, known: {} }, signal) };
}

function goneForGood(release: Release, service: { name: string; image: string }): StackwrightError {
  const { key, revision: { id } } = release;
  return errors.build_failed(
    `service ${service.name}: image ${service.image}, which was built for commit ${id}, is gone, ` +
      "and its name may lead to another program now. Deploy that commit to build it again " +
      `(${deploymentOf(release)}), and hold the stack (stackwright hold ` +
      `${formatStackArguments(key)}), or the next poll deploys the newest one; ` +
      "RELEASE_IMAGE_RETENTION says of how many releases images are kept. No container was touched",
  );
}

/** How a person deploys the commit of a recorded release, whose URL has no credentials. */
function deploymentOf({ revision: { source, id }, configuration, target }: Release): string {
  // What its configuration names decides about the commit, not the configuration's own one.
  if (configuration !== undefined) return `reference: ${id} beside its repository_url`;
  const of = target === "" ? "" : ` --target ${inShell(target)}`;
  return `stackwright apply --ref ${id}${of} ${inShell(source.url)}`;
}

/**
 * Finds clashes of ports and names with other projects, and of ports with programs of the host,
 * before anything is changed; and fixed addresses in a network that is written by its id, which others'
 * claims to them would not be compared with. What needs no port, and has its name already, clashes with
 * nothing. Throws `conflict` naming the first of them.
 */
export async function requireNoClash(
  parts: PrepareParts,
  release: Release,
  { plan, observed }: { readonly plan: Plan; readonly observed: ObservedStack },
  signal: AbortSignal,
): Promise<void> {
  // A swarm knows on which of its nodes a port is free; what other owners claim is asked apart.
  if (release.swarm !== undefined) return;
  const { model } = release;
  const starts = starting(plan.services, ["create", "recreate", "scale"]);
  await requireNamed(parts, model, starts, signal);
  const expected = new Map(release.services.map((each) => [each.name, each.expectation]));
  const running = new Set(
    observed.containers.filter(({ state }) => state === "running").map(({ service }) => service),
  );
  const counts = (service: string) => {
    const { replicas, autostart } = expected.get(service) ?? { replicas: 1, autostart: true };
    // The name that a service without containers gets later is told as well; a job needs its port at its runs.
    const started = autostart || running.has(service) ? replicas : 0;
    return { named: Math.max(1, replicas), started };
  };
  const names = new Set(observed.containers.map(({ name }) => name));
  const ported = starts.filter((service) =>
    counts(service).started > 0 &&
    claimsOf(model, service).ports.length + rangesOf(model, service).length > 0
  );
  const isNamed = (service: string) =>
    containerNames(model, service, counts(service).named).every((each) => names.has(each));
  if (ported.length === 0 && starts.every(isNamed)) return;
  const look = async () => {
    const containers = await parts.host.engine.listContainers({}, signal);
    const others = containers.filter((each) => {
      const name = each.labels[COMPOSE_LABELS.project] ?? "";
      // What a person runs once of the stack is replaced by nothing: a dump of a database goes on.
      if (name === release.key.name) return isOneOff(each) && !isOurs(each);
      return parts.goes?.has(formatStackKey({ ...release.key, name })) !== true;
    });
    return { containers, found: clashes(model, starts, others, counts) };
  };
  const { containers, found } = await look();
  if (found.length > 0) throw errors.conflict(fewOf(found, 20, "; "));
  const taken = await takenByPrograms(parts, release, { services: ported, containers }, signal);
  if (taken.length === 0) return;
  // A container that was started, or restarted, since they were listed.
  const since = (await look()).found;
  throw errors.conflict(fewOf(since.length > 0 ? since : taken, 20, "; "));
}

/** Throws `conflict` for a fixed address in a network that the engine finds under another name than is written. */
async function requireNamed(
  { host: { engine } }: PrepareParts,
  model: ComposeModel,
  services: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const places = services.flatMap((service) =>
    claimsOf(model, service).addresses.map((each) => ({
      service,
      network: each.split(" ")[0] ?? "",
    }))
  ).filter(({ network }) => NETWORK_ID.test(network));
  if (places.length === 0) return;
  const found = await engine.findNetworks(
    [...new Set(places.map(({ network }) => network))],
    signal,
  );
  const names = new Map(found.map(({ id, name }) => [id, name]));
  for (const { service, network } of places) {
    const name = names.get(network) ?? network;
    if (name === network) continue;
    throw errors.conflict(
      `service ${service} needs a fixed address in network ${name}, which is written by its id; ` +
        `write its name instead (name: ${name}), by which others claim addresses of it`,
    );
  }
}

/** Names of the services with one of the given actions. */
export function starting(services: readonly ServicePlan[], actions: readonly string[]): string[] {
  return services.filter((each) => actions.includes(each.action)).map((each) => each.name);
}
