import type { Engine } from "../../docker/engine.ts";
import { askingSource, errors, type Release, type StackKey } from "../../model/mod.ts";
import { resourcesOf } from "../../compose/mod.ts";
import { changedNetworks } from "../changed_networks.ts";
import { lacking } from "../engine/ensure_resources.ts";
import { requireNoNewNetworks } from "../new_networks.ts";
import { OF_NODES } from "./ensure_stack.ts";
import { madeForOther } from "./made_for_other.ts";
import { STACK_LABELS } from "./stack_parts.ts";

/**
 * Checks, before anything is changed, that a swarm can take the changed services of a stack:
 * external objects exist, the stack's networks are as it defines them, no external config or secret
 * was made for another stack, or for another source's of that name, whose author never shared its
 * content, and no service name is taken by another stack, as `b_c` of stack `a` and `c` of stack `a_b`
 * would clash. What a person `handedOver` is the stack's: of these sources, too, or all that was made for
 * the name.
 *
 * Throws `deploy_failed` for a missing object, which another deployment may make, and `conflict`.
 */
export async function requireStackParts(
  { host: { engine: { swarm } }, handedOver }: {
    readonly host: { readonly engine: Pick<Engine, "swarm"> };
    readonly handedOver: (key: StackKey) => ReadonlySet<string> | undefined;
  },
  release: Pick<Release, "key" | "model" | "configuration" | "revision">,
  services: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (services.length === 0) return;
  const { key: { name: stack }, model } = release;
  const sources = handedOver(release.key)?.union(new Set([askingSource(release)]));
  await requireOwnNames({ swarm }, stack, services, signal);
  const external = (kind: "networks" | "configs" | "secrets") =>
    resourcesOf(model, kind).filter((each) => each.external);
  const lan = await swarm.networks(signal);
  const own = lan.filter(({ labels }) => labels[STACK_LABELS.namespace] === stack);
  requireNoNewNetworks(changedNetworks(model, own), "it is a swarm's");
  const names = new Set(lan.map(({ name }) => name));
  for (const { key, name } of external("networks")) {
    if (names.has(name) || OF_NODES.includes(name)) continue;
    throw lacking("network", { key, name }, "-d overlay ");
  }
  for (const kind of ["configs", "secrets"] as const) {
    const wanted = external(kind);
    if (wanted.length === 0) continue;
    const found = await swarm.namedObjects(kind, wanted.map(({ name }) => name), signal);
    const there = new Map(found.map((each) => [each.name, each]));
    for (const { key, name } of wanted) {
      const found = there.get(name);
      if (found === undefined) {
        throw lacking(kind === "configs" ? "config" : "secret", { key, name });
      }
      const madeFor = madeForOther(found.labels, stack, sources);
      if (madeFor === undefined) continue;
      throw errors.conflict(
        `${kind}.${key}: ${name} was made for ${madeFor}, and goes when its content changes, so ` +
          "nothing was touched; give both stacks the content, or make one by hand for both",
      );
    }
  }
}

async function requireOwnNames(
  { swarm }: Pick<Engine, "swarm">,
  stack: string,
  services: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const names = new Set(services.map((each) => `${stack}_${each}`));
  const taken = (await swarm.namedServices([...names], signal)).find(({ name, labels }) =>
    names.has(name) && labels[STACK_LABELS.namespace] !== stack
  );
  if (taken === undefined) return;
  const { [STACK_LABELS.namespace]: owner } = taken.labels;
  const whose = owner === undefined ? "of no stack" : `of stack ${owner}`;
  throw errors.conflict(
    `stack ${stack}: a swarm would call one of its services ${taken.name}, which is a service ` +
      `${whose}, so nothing was touched; give the service another name`,
  );
}
