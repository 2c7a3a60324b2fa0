import type { Engine } from "../../docker/engine.ts";
import { errors } from "../../model/mod.ts";
import { requireInternal } from "../engine/require_internal.ts";
import { madeForOther } from "./made_for_other.ts";
import type { StackParts } from "./stack_parts.ts";
import type { WantedStack } from "./stack_of.ts";

/** Predefined networks of every node. */
export const OF_NODES: readonly string[] = ["host", "bridge", "none"];

/**
 * Makes the missing networks, configs and secrets of a stack; existing ones are left as they are.
 * Returns a function that finds its configs and secrets.
 *
 * Throws `conflict` when something external is missing, when a network leads outside where an
 * internal one is wanted, when a config or secret was made for another stack, or for this one of none
 * of `sources` (see {@link madeForOther}), and when an existing config has other content: the digest in the
 * name is so short that somebody can prepare a config with the same one.
 */
export async function ensureStack(
  { swarm, ...engine }: Pick<Engine, "swarm" | "makeNetwork">,
  stack: WantedStack & { readonly sources: ReadonlySet<string> | undefined },
  signal: AbortSignal,
): Promise<StackParts["object"]> {
  const missing = (what: string) =>
    errors.conflict(
      `stack ${stack.name}: ${what} is external and not there in the swarm; make it first`,
    );
  const known = await swarm.networks(signal);
  requireInternal(stack.networks, known);
  const networks = new Set(known.map(({ name }) => name));
  for (const { name, external, body } of stack.networks) {
    if (networks.has(name) || (external && OF_NODES.includes(name))) continue;
    if (external) throw missing(`network ${name}`);
    await engine.makeNetwork(body, signal);
  }
  const ids = new Map<string, { readonly id: string; readonly name: string }>();
  for (const kind of ["configs", "secrets"] as const) {
    const wanted = stack.objects.filter((each) => each.kind === kind);
    if (wanted.length === 0) continue;
    const found = await swarm.namedObjects(kind, wanted.map(({ name }) => name), signal);
    const there = new Map(found.map((each) => [each.name, each]));
    for (const { key, name, body } of wanted) {
      const known = there.get(name);
      if (known === undefined && body === undefined) throw missing(`${kind.slice(0, -1)} ${name}`);
      // What is external, too, was asked when the release was prepared, and may be another's by now.
      const madeFor = known && madeForOther(known.labels, stack.name, stack.sources);
      if (madeFor !== undefined) {
        throw errors.conflict(
          `stack ${stack.name}: ${kind}.${key}: there is ${name}, which was made for ${madeFor}; give ` +
            "one of them another name",
        );
      }
      if (body !== undefined && known?.data !== undefined && known.data !== body.Data) {
        throw errors.conflict(
          `stack ${stack.name}: ${kind}.${key}: there is a config ${name} with other content, which ` +
            "was not made from this file; find out who made it, and remove it",
        );
      }
      const id = known?.id ??
        (body === undefined ? "" : await swarm.createObject(kind, body, signal));
      ids.set(`${kind} ${key}`, { id, name });
    }
  }
  return (kind, key) => {
    const found = ids.get(`${kind} ${key}`);
    if (found !== undefined) return found;
    throw errors.internal(`stack ${stack.name}: ${kind}.${key} was not made`);
  };
}
