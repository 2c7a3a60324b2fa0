import { BOUNDS, hooksPassedOver, labelsOf, objectAt, servicesOf } from "../compose/mod.ts";
import type { ComposePaths, WrittenResource } from "../config/compose_paths.ts";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  type ComposeModel,
  errors,
  isStackwrightError,
  type StackKey,
} from "../model/mod.ts";
import { interpolate } from "./interpolate.ts";
import type { PrepareParts } from "./parts.ts";
import type { Target } from "./target.ts";

type OfFile = Pick<ComposePaths, "services" | "reset" | "resources">;

/** What a project has, under whichever profile. */
export interface Declared {
  /** Names of services. */
  readonly services: ReadonlySet<string>;
  /** Networks and volumes, each as the last file that says something of it has it. */
  readonly resources: readonly WrittenResource[];
}

/**
 * Services, networks and volumes that compose files have, whichever profiles are active: `docker compose config`
 * prints only what is active. What is in a file that others only extend is not the project's.
 */
export class DeclaredParts {
  readonly #files = new Map<string, OfFile>();
  readonly #included = new Map<string, Set<string>>();

  /** Notes what a file itself has, and what it takes back. */
  noteFile(file: string, found: OfFile): void {
    this.#files.set(file, found);
  }

  /** Notes files that a file includes. */
  noteIncluded(file: string, included: readonly string[]): void {
    const known = this.#included.get(file) ?? new Set();
    for (const each of included) known.add(each);
    this.#included.set(file, known);
  }

  /** What a project of some files has, with what these include. */
  in(files: readonly string[]): Declared {
    const [reached, left] = [new Set<string>(), [...files].reverse()];
    const services = new Set<string>();
    const resources = new Map<string, WrittenResource>();
    // Each with what it includes, before the next one: that takes back what is there by then.
    for (let file = left.pop(); file !== undefined; file = left.pop()) {
      if (reached.has(file)) continue;
      reached.add(file);
      const found = this.#files.get(file);
      found?.reset.forEach((each) => services.delete(each));
      found?.services.forEach((each) => services.add(each));
      for (const each of found?.resources ?? []) {
        const id = `${each.kind} ${each.key}`;
        resources.set(id, { ...resources.get(id), ...each });
      }
      left.push(...[...this.#included.get(file) ?? []].reverse());
    }
    return { services, resources: [...resources.values()] };
  }
}

/** Names that compose allows. */
const NAME = /^[a-zA-Z0-9._-]{1,255}$/;

/** What a project has besides its rendered model, where no active service uses it. */
export interface BesideModel {
  /** Names of services whose profiles are not active; sorted. */
  readonly inactive: readonly string[];
  /** See {@link Release.unused}. */
  readonly unused?: ComposeModel;
}

/**
 * What a project has that its model does not have. A name with variables that only the dotenv file of an include
 * has is not known. Throws `config_invalid` for more than a model may have.
 */
export async function besideModel(
  parts: Parameters<typeof interpolate>[0],
  { key: { name: stack }, model, ...call }:
    & Parameters<typeof interpolate>[1]
    & { readonly key: StackKey; readonly model: ComposeModel },
  { services, resources }: Declared,
  signal: AbortSignal,
): Promise<BesideModel> {
  const active = servicesOf(model);
  const inactive = [...services].filter((each) => NAME.test(each) && active[each] === undefined);
  requireFew(stack, inactive, "services", "have profiles that are not active", BOUNDS.services);
  const all = inactive.length === 0 ? resources : withDefault(resources);
  const left = all.filter(({ kind, key }) => objectAt(model, kind)[key] === undefined);
  if (left.length === 0) return { inactive: inactive.sort() };
  requireFew(
    stack,
    left,
    "networks and volumes",
    "are used by no active service",
    2 * BOUNDS.resources,
  );
  const open = left.flatMap(({ name }) => name?.includes("$") ? [name] : []);
  const values = open.length === 0
    ? []
    : await interpolate(parts, call, open, signal).catch((error) => {
      if (isStackwrightError(error, "render_failed")) return [];
      throw error;
    });
  const known = new Map(open.map((each, at) => [each, values[at] ?? each]));
  const entriesOf = (wanted: WrittenResource["kind"]) =>
    left.filter(({ kind }) => kind === wanted).flatMap(({ key, name: given, external = false }) => {
      const name = given === undefined
        ? external ? key : `${stack}_${key}`
        : known.get(given) ?? given;
      return name.length > BOUNDS.name ? [] : [[key, { name, ...(external && { external }) }]];
    });
  const [networks, volumes] = [entriesOf("networks"), entriesOf("volumes")];
  return {
    inactive: inactive.sort(),
    unused: { networks: Object.fromEntries(networks), volumes: Object.fromEntries(volumes) },
  };
}

/** Also the network of services that name none. */
function withDefault(resources: readonly WrittenResource[]): readonly WrittenResource[] {
  const named = { kind: "networks", key: "default" } as const;
  const isThere = resources.some(({ kind, key }) => kind === named.kind && key === named.key);
  return isThere ? resources : [named, ...resources];
}

function requireFew(
  stack: string,
  all: readonly unknown[],
  what: string,
  why: string,
  limit: number,
) {
  if (all.length <= limit) return;
  throw errors.config_invalid(
    `deployment ${stack}: ${all.length} ${what} of its compose files ${why}, the most is ${limit}`,
  );
}

/** Warning for a project without a service, as with a misspelled profile: nothing else would show it. */
function noteEmpty(
  { log }: Pick<PrepareParts, "log">,
  { key, deployment: { profiles } }: Pick<Target, "key" | "deployment">,
  model: ComposeModel,
): void {
  if (Object.keys(servicesOf(model)).length > 0) return;
  const why = profiles.length === 0
    ? "its compose files have no service without a profile"
    : `no service of its compose files is of the profiles ${profiles.join(", ")}, or without one`;
  log.warning(`nothing is deployed: ${why}`, { stack: key.name, context: key.context });
}

/** Warns of hooks that Stackwright passes over. */
function noteHooks(
  { log }: Pick<PrepareParts, "log">,
  { key }: Pick<Target, "key">,
  model: ComposeModel,
): void {
  const jobs = Object.entries(servicesOf(model)).filter(([, service]) => {
    const enabled = behaviourLabel(labelsOf(service), BEHAVIOUR_LABELS.jobEnabled);
    return enabled !== undefined && enabled !== "false";
  });
  for (const each of hooksPassedOver(model, new Set(jobs.map(([name]) => name)))) {
    log.warning(each, { stack: key.name, context: key.context });
  }
}

/** Warns of a model without services, and of hooks that Stackwright passes over. */
export function noteServices(
  parts: Pick<PrepareParts, "log">,
  target: Pick<Target, "key" | "deployment">,
  model: ComposeModel,
): void {
  noteEmpty(parts, target, model);
  noteHooks(parts, target, model);
}
