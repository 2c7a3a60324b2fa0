import type { NetworkBody } from "../../docker/create_bodies.ts";
import type { ResourceSummary } from "../../docker/engine.ts";
import { errors } from "../../model/mod.ts";

interface Wanted {
  readonly name: string;
  readonly external: boolean;
  readonly body: Pick<NetworkBody, "Internal">;
}

/**
 * Refuses networks that a model defines as `internal` where another project's network of that name
 * leads outside: services would join it, and whoever made it would decide what they reach. `isOwn`
 * tells by labels what the stack made, whose changes are looked for elsewhere. Throws `conflict`.
 */
export function requireInternal(
  wanted: readonly Wanted[],
  there: readonly ResourceSummary[],
  isOwn: (labels: ResourceSummary["labels"]) => boolean,
): void {
  const names = new Set(
    wanted.filter(({ external, body }) => !external && body.Internal).map(({ name }) => name),
  );
  const open = there.find(({ id, name, labels, network }) =>
    (names.has(name) || names.has(id)) && !isOwn(labels) && network?.internal === false
  );
  if (open === undefined) return;
  throw errors.conflict(
    `network ${open.name} is to be internal, and one of that name exists that is not, and was not made ` +
      "for this stack, so it was not joined; give the network another name (name: …), or remove that one",
  );
}
