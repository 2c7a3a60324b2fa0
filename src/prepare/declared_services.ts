import { BOUNDS, hooksPassedOver, labelsOf, servicesOf } from "../compose/mod.ts";
import type { ComposePaths } from "../config/compose_paths.ts";
import {
  BEHAVIOUR_LABELS,
  behaviourLabel,
  type ComposeModel,
  errors,
  type StackKey,
} from "../model/mod.ts";
import type { PrepareParts } from "./parts.ts";
import type { Target } from "./target.ts";

type Services = Pick<ComposePaths, "services" | "reset">;

/**
 * Names of the services that compose files have, whichever profiles are active: `docker compose config` prints
 * only the active ones. Those of a file that others only extend are not the project's.
 */
export class DeclaredServices {
  readonly #services = new Map<string, Services>();
  readonly #included = new Map<string, Set<string>>();

  /** Notes the services that a file itself has, and those that it takes back. */
  noteServices(file: string, services: Services): void {
    this.#services.set(file, services);
  }

  /** Notes files that a file includes. */
  noteIncluded(file: string, included: readonly string[]): void {
    const known = this.#included.get(file) ?? new Set();
    for (const each of included) known.add(each);
    this.#included.set(file, known);
  }

  /** The services that a project of some files has, with what these include. */
  in(files: readonly string[]): ReadonlySet<string> {
    const [reached, left] = [new Set<string>(), [...files].reverse()];
    const names = new Set<string>();
    // Each with what it includes, before the next one: that takes back what is there by then.
    for (let file = left.pop(); file !== undefined; file = left.pop()) {
      if (reached.has(file)) continue;
      reached.add(file);
      const { services, reset } = this.#services.get(file) ?? { services: [], reset: [] };
      reset.forEach((each) => names.delete(each));
      services.forEach((each) => names.add(each));
      left.push(...[...this.#included.get(file) ?? []].reverse());
    }
    return names;
  }
}

/** Names that compose allows. */
const NAME = /^[a-zA-Z0-9._-]{1,255}$/;

/**
 * Those of a project's services that its model does not have, since their profiles are not active; sorted.
 * Throws `config_invalid` for more than a model may have.
 */
export function inactiveServices(
  model: ComposeModel,
  all: ReadonlySet<string>,
  { name }: StackKey,
): string[] {
  const active = servicesOf(model);
  const inactive = [...all].filter((each) => NAME.test(each) && active[each] === undefined);
  if (inactive.length <= BOUNDS.services) return inactive.sort();
  throw errors.config_invalid(
    `deployment ${name}: ${inactive.length} services of its compose files have profiles that are not ` +
      `active, the most is ${BOUNDS.services}`,
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
