import { clashes, servicesOf } from "../compose/mod.ts";
import {
  errors,
  isOurs,
  type ObservedContainer,
  type ObservedStack,
  type Plan,
  type Release,
} from "../model/mod.ts";

/** Containers that Stackwright did not make, of services that the release does not have, and that a plan leaves. */
export function leftOrphans(
  { model }: Pick<Release, "model">,
  { services }: Plan,
  { containers }: ObservedStack,
): ObservedContainer[] {
  const goes = new Set(
    services.filter(({ action }) => action === "remove").map(({ name }) => name),
  );
  const wanted = servicesOf(model);
  return containers.filter((each) =>
    !isOurs(each) && wanted[each.service] === undefined && !goes.has(each.service)
  );
}

/** Throws `conflict` where such a container has a port or name that a service needs which is made. */
export function requireRoomBeside(
  left: readonly ObservedContainer[],
  { model }: Pick<Release, "model">,
  { services }: Plan,
): void {
  const made = services.filter(({ action }) => action === "create" || action === "recreate");
  const found = clashes(model, made.map(({ name }) => name), left);
  if (found.length > 0) throw errors.conflict(found.join("; "));
}
