import { clashes, clashing, servicesOf } from "../compose/mod.ts";
import type { Engine } from "../docker/engine.ts";
import { asNumber, asRecord, asText, type JsonRecord } from "../docker/json.ts";
import {
  type AdoptionNotes,
  type ComposeModel,
  errors,
  fewOf,
  type HaltedPolicies,
  isOurs,
  type ObservedContainer,
  type ObservedStack,
  own,
  type Plan,
  type Release,
  type ReleaseService,
  type RestartPolicy,
  type ServicePlan,
} from "../model/mod.ts";
import { fewAtOnce } from "./few_at_once.ts";
import { waysOf } from "./in_the_way.ts";
import { modelMounts, plainPath, sharesNothing } from "./moved_mounts.ts";

/** Containers that Stackwright did not make, of services that the release does not have. */
export function othersOrphans(
  { model }: Pick<Release, "model">,
  { containers }: ObservedStack,
): ObservedContainer[] {
  const wanted = servicesOf(model);
  return containers.filter((each) => !isOurs(each) && wanted[each.service] === undefined);
}

/** Services that a release does not have, and of which no container runs. */
export function idleOrphans(
  services: readonly ReleaseService[],
  { containers }: ObservedStack,
): string[] {
  const wanted = new Set(services.map(({ name }) => name));
  const byService = [...Map.groupBy(containers, ({ service }) => service)];
  return byService.filter(([name, own]) => !wanted.has(name) && own.every(isDown))
    .map(([name]) => name);
}

/** Whether nothing of a container runs, or will without somebody's doing. */
export function isDown({ state }: { readonly state: string }): boolean {
  return ["exited", "created", "dead"].includes(state);
}

/** An orphan that is stopped before a service is made, and stays so. */
export interface HaltedOrphan {
  readonly container: ObservedContainer;
  /** What would go wrong otherwise. */
  readonly why: string;
  /** Its restart policy. */
  readonly policy: RestartPolicy;
}

/**
 * Orphans that would go on to write to what is copied (`writers`, ids of containers), or to a named volume
 * or path to which a service begins to write with the release: two programs on the same data can destroy it.
 * What a service may write to already, it shares on purpose. Of those that Stackwright made and does not
 * remove, also what has a port, name or address that a service needs. `before` is what is deployed.
 */
export async function haltedOrphans(
  engine: Pick<Engine, "inspectContainer">,
  { release: { model }, services, observed, writers, before }: {
    readonly release: Pick<Release, "model">;
    readonly services: readonly ServicePlan[];
    readonly observed: ObservedStack;
    readonly writers: ReadonlySet<string>;
    before(): ComposeModel | undefined;
  },
  signal: AbortSignal,
): Promise<HaltedOrphan[]> {
  const [wanted, goes] = [servicesOf(model), removedBy(services)];
  const running = observed.containers.filter((each) =>
    wanted[each.service] === undefined && ["running", "restarting"].includes(each.state) &&
    !(isOurs(each) && goes.has(each.service))
  );
  if (running.length === 0) return [];
  const policies = new Map<string, RestartPolicy>();
  const written = new Map(
    await fewAtOnce(observed.containers, async ({ id }) => {
      const { mounts = [], host } = await engine.inspectContainer(id, signal) ?? {};
      policies.set(id, policyIn(host));
      const writes = mounts.filter(({ kind, writable }) => kind !== "other" && writable)
        .map((each) => each.kind === "volume" ? each.name : plainPath(each.source));
      return [id, writes] as const;
    }),
  );
  const byService = Map.groupBy(observed.containers, ({ service }) => service);
  const previousModel = before();
  const needed = Object.keys(wanted).map((name) => {
    const had = new Set(byService.get(name)?.flatMap(({ id }) => written.get(id) ?? []));
    for (const each of writesOf(previousModel ?? {}, name)) had.add(each);
    const writes = writesOf(model, name).filter((each) => !had.has(each));
    return { name, claims: { ...NOTHING, writes } };
  });
  const held = running.map(({ id }) => (
    { name: id, claims: { ...NOTHING, writes: written.get(id) ?? [] } }
  ));
  const takers = clashing(held, needed);
  const started = services.filter(({ action }) => STARTS.includes(action)).map(({ name }) => name);
  const ours = running.filter(isOurs).map(({ service }) => service);
  const ways = waysOf({ model, previousModel, containers: observed.containers });
  const needing = ways.inTheWay(ours, started);
  const why = ({ id, service }: ObservedContainer) => {
    if (writers.has(id)) return "it writes to what is copied";
    const taker = takers.get(id);
    if (taker !== undefined) return `it writes to what ${taker} writes to`;
    const other = needing.get(service);
    return other && `${other} takes its place (data, port, name or address)`;
  };
  return running.flatMap((container) => {
    const policy = policies.get(container.id) ?? NEVER;
    const reason = why(container);
    return reason === undefined ? [] : [{ container, policy, why: reason }];
  });
}

/** Actions that may start containers. */
const STARTS: readonly ServicePlan["action"][] = ["create", "recreate", "scale", "start"];

/** The services that a plan removes at its end. */
export function removedBy(services: readonly ServicePlan[]): ReadonlySet<string> {
  return new Set(services.filter(({ action }) => action === "remove").map(({ name }) => name));
}

/** The named volumes and paths that a service of a model may write to. */
function writesOf(model: ComposeModel, service: string): string[] {
  return [...modelMounts(model, service).values()].flatMap(({ kind, source, entry }) => {
    const isShared = entry["read_only"] === true || source === "" || sharesNothing(source);
    if (isShared || !["bind", "volume"].includes(kind)) return [];
    return [kind === "bind" ? plainPath(source) : source];
  });
}

const NOTHING = { ports: [], names: [], addresses: [], hostNetwork: false };

/** What an adoption writes down before it stops containers for good and copies data. */
export interface Halts {
  /** What a process wrote down that was killed. */
  readonly had: AdoptionNotes;
  note(notes: AdoptionNotes): void;
}

/**
 * The restart policies of orphans and `writers` that are about to be stopped for good; as before what was
 * killed stopped them.
 */
export async function policiesOf(
  engine: Pick<Engine, "inspectContainer">,
  { orphans, writers, had }: Pick<Halts, "had"> & {
    readonly orphans: readonly HaltedOrphan[];
    readonly writers: readonly ObservedContainer[];
  },
  signal: AbortSignal,
): Promise<HaltedPolicies> {
  const known = new Map(orphans.map(({ container: { id }, policy }) => [id, policy]));
  const ids = new Set([...known.keys(), ...writers.map(({ id }) => id)]);
  const policies = await fewAtOnce([...ids], async (id) => {
    const policy = own(had.halted, id) ?? known.get(id) ??
      policyIn((await engine.inspectContainer(id, signal))?.host);
    return [id, policy] as const;
  });
  return Object.fromEntries(policies);
}

function policyIn(host: JsonRecord | undefined): RestartPolicy {
  const { Name, MaximumRetryCount } = asRecord(host?.["RestartPolicy"]);
  return { Name: asText(Name) || NEVER.Name, MaximumRetryCount: asNumber(MaximumRetryCount) ?? 0 };
}

/** The restart policy of what is stopped for good: the engine would start it again as it starts itself. */
const NEVER: RestartPolicy = { Name: "no", MaximumRetryCount: 0 };

/** Sees to it that the engine does not start a container again that is stopped next. */
export async function keepDown(
  engine: Pick<Engine, "setRestartPolicy">,
  id: string,
  halted: HaltedPolicies,
  signal: AbortSignal,
): Promise<void> {
  if (halted[id]?.Name !== NEVER.Name) await engine.setRestartPolicy(id, NEVER, signal);
}

/**
 * Starts containers again that were stopped for good and are there, with the restart policies that they
 * had; only those that `isMeant`, if told.
 */
export async function letReturn(
  engine: Pick<Engine, "inspectContainer" | "setRestartPolicy" | "startContainer">,
  halted: HaltedPolicies,
  signal: AbortSignal,
  isMeant: (container: { readonly id: string }) => boolean = () => true,
): Promise<void> {
  for (const [id, policy] of Object.entries(halted)) {
    if (!isMeant({ id }) || await engine.inspectContainer(id, signal) === undefined) continue;
    if (policy.Name !== NEVER.Name) await engine.setRestartPolicy(id, policy, signal);
    await engine.startContainer(id, signal);
  }
}

/** Throws `conflict` where one of some containers has a port or name that a service needs which is made. */
export function requireRoomBeside(
  left: readonly ObservedContainer[],
  { model }: Pick<Release, "model">,
  { services }: Plan,
): void {
  const made = services.filter(({ action }) => action === "create" || action === "recreate");
  const found = clashes(model, made.map(({ name }) => name), left);
  if (found.length > 0) throw errors.conflict(fewOf(found, 20, "; "));
}
