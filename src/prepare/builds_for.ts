import { buildersOf } from "../compose/mod.ts";
import { imagesOf, isNew, type NamedImage, own, type Plan, type Release } from "../model/mod.ts";

/** An image that the release builds, for a service that names it. */
export interface BuiltImage extends NamedImage {
  readonly service: string;
  /** The service whose build gives it. */
  readonly maker: string;
}

/** The images of services, their own and those beside it, that the release builds. */
export function imagesBuilt(
  { model, services }: Pick<Release, "model" | "services">,
): BuiltImage[] {
  const builders = buildersOf(model);
  return services.flatMap((service) =>
    imagesOf(service).flatMap((each) => {
      const [maker] = builders(service.name, each.image);
      return maker === undefined ? [] : [{ ...each, service: service.name, maker }];
    })
  );
}

/**
 * The services whose containers run what a plan needs of builds, and stay as they are. One without replicas
 * may have containers of another release.
 */
export function stayingFor(
  { services }: Pick<Release, "services">,
  { plan, built, needed }: {
    readonly plan: Pick<Plan, "services">;
    readonly built: readonly BuiltImage[];
    /** Images that the plan needs, of those. */
    readonly needed: readonly BuiltImage[];
  },
): BuiltImage[] {
  const makers = new Set(needed.map(({ maker }) => maker));
  const gone = new Set([
    ...plan.services.filter(isNew).map(({ name }) => name),
    ...services.filter(({ expectation }) => expectation.replicas === 0).map(({ name }) => name),
  ]);
  return built.filter(({ name, service, maker }) =>
    name === service && makers.has(maker) && !gone.has(service)
  );
}

/** What a plan does about the images that its release builds. */
export interface BuildsFor {
  /** Names of the services to build, also of some that have no container, or stay as they are. */
  readonly builds: ReadonlySet<string>;
  /** Ids of images that were built before and are used again, by the names of {@link NamedImage}. */
  readonly again: Readonly<Record<string, string>>;
}

/**
 * Decides which services are built for the images that a plan needs. What changes is built. An image that
 * another service's build gives is the one that a service of it runs which stays: nothing that it is built
 * from has changed, and its name may lead to one that was never released. It is built where none stays. More
 * replicas of a service get the image of the others.
 */
export function buildsFor(
  needed: readonly BuiltImage[],
  plan: Pick<Plan, "services">,
  { isMissing, staying, ran }: {
    /** Whether the engine has no image of this name. */
    readonly isMissing: (image: string) => boolean;
    readonly staying: readonly BuiltImage[];
    /** Ids of the images of `staying` that are on the engine, by service. */
    readonly ran: Readonly<Record<string, string>>;
  },
): BuildsFor {
  const actions = new Map(plan.services.map((each) => [each.name, each]));
  const running = new Map<string, string>();
  for (const { service, maker } of staying) {
    const id = own(ran, service);
    // The service that is built decides where others of its image run another one.
    if (id !== undefined && (service === maker || !running.has(maker))) running.set(maker, id);
  }
  const again: Record<string, string> = {};
  const builds = new Set<string>();
  const others: BuiltImage[] = [];
  for (const each of needed) {
    const { name, image, service, maker } = each;
    const planned = actions.get(service);
    const id = planned?.action === "scale" ? own(ran, name) : undefined;
    if (id !== undefined) again[name] = id;
    else if (service !== maker) others.push(each);
    else if (planned?.action !== "start" || isMissing(image)) builds.add(maker);
  }
  for (const { name, image, service, maker } of others) {
    const planned = actions.get(service);
    const makesNew = planned !== undefined && isNew(planned) || isMissing(image);
    // Containers that are only started have their image; those of their hooks are made.
    if (builds.has(maker) || name === service && !makesNew) continue;
    const id = running.get(maker);
    if (id !== undefined) again[name] = id;
    else if (makesNew) builds.add(maker);
  }
  return { builds, again };
}
