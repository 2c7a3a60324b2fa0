import {
  COMPOSE_LABELS,
  errors,
  isOurs,
  messageOf,
  type ObservedContainer,
  own,
  StackwrightError,
} from "../../model/mod.ts";
import {
  containerName,
  expectationOf,
  imageReference,
  MADE_UP,
  objectsAt,
  serviceOf,
  textAt,
} from "../../compose/mod.ts";
import type { ContainerMount, Engine } from "../../docker/engine.ts";
import { nameAside, stopAndRemove } from "../compose/act_on_services.ts";
import { observe } from "../observe.ts";
import { forEachService } from "./along_dependencies.ts";
import { containerWish } from "./container_body.ts";
import { containerLabels, knowsImagesByContent } from "./container_labels.ts";
import type { EngineWork } from "./engine_work.ts";
import { withoutAliases } from "./gate.ts";
import { injectedFiles } from "./injected_files.ts";
import { makeOfBuilt } from "./make_of_built.ts";
import { tarOf } from "./tar.ts";
import { portTold } from "./taken_port.ts";

/** A container that was made to replace another one. */
export interface Successor {
  readonly service: string;
  readonly id: string;
  /** The final name. */
  readonly name: string;
  readonly replaces: ObservedContainer;
}

/** A container that was made and not started yet. */
type MadeContainer = Pick<Successor, "service" | "id" | "name"> & {
  /** Its number within its service. */
  readonly number: number;
};

/** The result of making containers. */
export interface MadeContainers {
  /** All new containers, including {@link MadeContainers.successors}. */
  readonly made: readonly MadeContainer[];
  readonly successors: readonly Successor[];
  /** Existing containers beyond the wanted number. */
  readonly surplus: readonly ObservedContainer[];
}

/** One container to be made. */
interface Vacancy {
  readonly service: string;
  readonly number: number;
  readonly replaces?: ObservedContainer;
}

/** Containers of a service to make, and existing ones to remove. */
interface ServiceWork {
  readonly vacancies: readonly Vacancy[];
  readonly surplus: readonly ObservedContainer[];
}

/**
 * Makes every missing container, and a successor beside each one to be replaced, without touching
 * running ones: a definition that the engine refuses fails while everything still runs. A service
 * comes after those whose containers it names. Successors have no aliases in the networks that are
 * `hidden` for their service.
 */
export async function makeContainers(
  work: EngineWork,
  signal: AbortSignal,
  hidden: (service: string) => ReadonlySet<string> = () => new Set(),
): Promise<MadeContainers> {
  const { parts: { engine }, changes, model } = work;
  const { containers } = changes.observed ?? await observe(engine, changes, signal);
  const names = Object.keys(changes.scale);
  const composeVersion = await work.parts.compose.knownVersion(signal);
  const variables = await work.parts.variables();
  const todo = new Map(names.map((name) => [name, serviceWork(work, name, containers)]));
  const ids = firstIds(work, containers);
  const idOf = (service: string) => idIn(ids, service);
  const successors: Successor[] = [];
  const fresh: MadeContainer[] = [];
  const make = async (vacancy: Vacancy) => {
    const { service, number, replaces } = vacancy;
    const name = containerName(model, service, number);
    await attempt(`service ${service}: container ${name} could not be made`, async () => {
      const built = own(changes.built ?? {}, service);
      const image = built ?? imageReference(model, service);
      const [imageId, before] = await Promise.all([
        presentImage(work, { service, image }, composeVersion, signal),
        inheritance(work, vacancy, image, signal),
      ]);
      const labels = containerLabels({
        ...{ model, service, number, imageId, composeVersion, idOf },
        project: changes.call.project.name,
        directory: changes.call.project.directory,
        files: changes.call.project.files,
      });
      const wish = containerWish({
        ...{ model, service, number, api: work.api, variables, idOf, ...before },
        labels: replaces === undefined ? labels : {
          ...labels,
          [COMPOSE_LABELS.replaces]: replaces.id,
        },
      });
      const waiting = replaces === undefined ? name : nameAside(replaces.id, name);
      const made = replaces === undefined ? wish : withoutAliases(wish, hidden(service));
      const id = await makeOfBuilt(engine, { ...made, name: waiting }, built, signal);
      await putFiles(work, { service, id }, signal);
      // Logs the final name: the temporary one means nothing to people.
      work.tell(`Container ${name} Created`);
      fresh.push({ service, id, name, number });
      if (replaces !== undefined) successors.push({ service, id, name, replaces });
      if (replaces !== undefined || !ids.has(service)) ids.set(service, id);
    });
  };
  await forEachService(work, async (name) => {
    // Highest number first, since other services refer to the container with the lowest one.
    for (const each of todo.get(name)?.vacancies.toReversed() ?? []) await make(each);
  }, signal);
  return { made: fresh, successors, surplus: [...todo.values()].flatMap((each) => each.surplus) };
}

/**
 * Ids of the first containers of services, as others may name them. What a person made has mounts that no
 * model names, and what is to go has those of earlier releases: neither hands anything on.
 */
function firstIds({ model }: EngineWork, containers: readonly ObservedContainer[]) {
  const stays = (each: ObservedContainer) =>
    isOurs(each) && expectationOf(each.service, model).replicas > 0;
  const sorted = containers.filter(stays).sort((a, b) => numberOf(b) - numberOf(a));
  return new Map(sorted.map((each) => [each.service, each.id]));
}

/** Throws `deploy_failed` for a service without a container. */
function idIn(ids: ReadonlyMap<string, string>, service: string): string {
  const id = ids.get(service);
  if (id !== undefined) return id;
  throw errors.deploy_failed(
    `service ${service} has no container of its own that others could share (volumes_from, network_mode, ` +
      "ipc, pid), so nothing was made; give it one (scale), or take the key away",
  );
}

/**
 * The id of a service's image, as compose records it. Throws `engine_refused` without an image, and
 * `deploy_failed` where one that the preparation knows is gone: its name may point to any image then.
 */
async function presentImage(
  { parts: { engine }, changes, model }: EngineWork,
  { service, image }: { readonly service: string; readonly image: string },
  composeVersion: string,
  signal: AbortSignal,
): Promise<string> {
  const platform = textAt(serviceOf(model, service), "platform");
  const id = knowsImagesByContent(composeVersion)
    ? await engine.imageContent(image, platform, signal)
    : await engine.imageId(image, signal);
  if (id !== undefined) return id;
  if (own(changes.built ?? {}, service) === undefined) {
    throw errors.engine_refused(`image ${image} is not on this engine`);
  }
  throw errors.deploy_failed(
    `the image that was prepared for service ${service}, ${image}, is not on the engine any more; ` +
      "the next deployment builds or fetches it again",
  );
}

/** Puts the values of configs and secrets into a container before its first start. */
export async function putFiles(
  { parts: { engine, clock }, changes, model }: EngineWork,
  { service, id }: { readonly service: string; readonly id: string },
  signal: AbortSignal,
): Promise<void> {
  const files = injectedFiles(model, service, changes.call.variables);
  if (files.length === 0) return;
  const seconds = Math.floor(clock.now().getTime() / 1000);
  await engine.unpackInto(id, tarOf(files, seconds), signal);
}

/** Runs work, and adds to an error of the engine what was attempted. */
export async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof StackwrightError) || cause.code !== "engine_refused") throw cause;
    throw errors.deploy_failed(`${what}: ${portTold(messageOf(cause))}`, { cause });
  }
}

/** Removes a service's containers beyond the wanted number. */
export async function removeSurplus(
  { parts: { engine }, tell }: EngineWork,
  service: string,
  { surplus }: Pick<MadeContainers, "surplus">,
  signal: AbortSignal,
): Promise<void> {
  for (const { id, name } of surplus.filter((each) => each.service === service)) {
    const what = `service ${service}: container ${name} could not be removed`;
    await attempt(what, () => stopAndRemove(engine, id, signal));
    tell(`Container ${name} Removed`);
  }
}

/** The number of a container within its service; 1 where its label has no number that compose gives. */
export function numberOf({ labels }: ObservedContainer): number {
  const number = Number(labels[COMPOSE_LABELS.number]);
  return Number.isSafeInteger(number) && number > 0 ? number : 1;
}

function serviceWork(
  { changes }: EngineWork,
  service: string,
  containers: readonly ObservedContainer[],
): ServiceWork {
  const wanted = own(changes.scale, service) ?? 1;
  const present = containers.filter((each) => each.service === service)
    .sort((a, b) => numberOf(a) - numberOf(b));
  const stays = present.slice(0, wanted);
  const highest = Math.max(0, ...present.map(numberOf));
  const replaced = changes.mode !== "complete"
    ? stays.map((each): Vacancy => ({ service, number: numberOf(each), replaces: each }))
    : [];
  const added = Array.from(
    { length: wanted - stays.length },
    (_, index): Vacancy => ({ service, number: highest + index + 1 }),
  );
  return { vacancies: [...replaced, ...added], surplus: present.slice(wanted) };
}

/** The volumes of the container to be replaced, and where the image declares any. */
async function inheritance(
  { parts: { engine }, model }: EngineWork,
  { service, replaces }: Vacancy,
  image: string,
  signal: AbortSignal,
): Promise<{
  readonly inherited: readonly ContainerMount[];
  readonly imageVolumes: ReadonlySet<string>;
}> {
  const details = replaces === undefined
    ? undefined
    : await engine.inspectContainer(replaces.id, signal);
  const isNameless = ({ kind, name }: ContainerMount) => kind === "volume" && MADE_UP.test(name);
  const mounted = details?.mounts.filter(isNameless) ?? [];
  const inherited = await withoutOptions(engine, mounted, signal);
  const mounts = objectsAt(serviceOf(model, service), "volumes");
  const written = new Set(mounts.map((each) => textAt(each, "target")));
  const unwritten = inherited.filter(({ destination }) => !written.has(destination));
  const imageVolumes = unwritten.length === 0 ? [] : await engine.imageVolumes(image, signal);
  return { inherited, imageVolumes: new Set(imageVolumes) };
}

/**
 * The mounts of volumes that lead nowhere but into themselves: authors may give a volume a name as the
 * engine makes them, and what is inherited is in no model, so nobody judged where its options lead.
 */
async function withoutOptions(
  engine: Pick<Engine, "findVolumes">,
  mounts: readonly ContainerMount[],
  signal: AbortSignal,
): Promise<ContainerMount[]> {
  if (mounts.length === 0) return [];
  const found = await engine.findVolumes(mounts.map(({ name }) => name), signal);
  const leading = new Set(
    found.filter(({ options = {} }) => Object.keys(options).length > 0).map(({ name }) => name),
  );
  return mounts.filter(({ name }) => !leading.has(name));
}
