import type { NetworkBody } from "../../docker/create_bodies.ts";
import type { ResourceSummary } from "../../docker/engine.ts";
import { errors } from "../../model/mod.ts";

interface Wanted {
  readonly name: string;
  readonly external: boolean;
  readonly body: Pick<NetworkBody, "Internal">;
}

/**
 * Refuses networks that a model defines as `internal` where one of that name leads outside: services
 * would join it, and whoever made it would decide what they reach. The stack's own that are made
 * anew are gone by now. Throws `conflict`.
 */
export function requireInternal(
  wanted: readonly Wanted[],
  there: readonly ResourceSummary[],
): void {
  const names = new Set(
    wanted.filter(({ external, body }) => !external && body.Internal).map(({ name }) => name),
  );
  const open = there.find(({ id, name, network }) =>
    (names.has(name) || names.has(id)) && network?.internal === false
  );
  if (open === undefined) return;
  throw errors.conflict(
    `network ${open.name} is to be internal, and one of that name exists that is not, so it was ` +
      "not joined; give the network another name (name: …), or remove that one",
  );
}
