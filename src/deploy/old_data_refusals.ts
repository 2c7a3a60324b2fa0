import { join } from "node:path";
import { errors, fewOf, type StackKey } from "../model/mod.ts";
import type { OldData } from "./old_data.ts";

/** The refusal of a deployment whose data cannot be copied, with the way to copy it by hand. */
export function unreachable(
  key: StackKey,
  { service, target, source }: OldData,
  place: string,
  { why, way }: { readonly why: string; readonly way?: string },
) {
  return errors.conflict(
    `${key.name} is not deployed: service ${service} has its data (mounted at ${target}) in ${source}, ` +
      `${why}, and would start without it; stop the stack and copy it: cp -a ${source} ${place}` +
      `${
        way === undefined ? "" : `, or ${way}`
      }; if nobody needs it, or it is there already, remove ` +
      `the container of ${service}`,
  );
}

/** The refusal of a deployment whose data only the engine's host sees. */
export function unseen(key: StackKey, data: OldData, place: string) {
  const way = `mount ${data.source} into the container of Stackwright`;
  return unreachable(key, data, place, { why: "which Stackwright cannot see", way });
}

/** The refusal of a deployment whose data was taken away below its container. */
export function takenAway(
  key: StackKey,
  { service, target, source, container }: OldData,
  place: string,
) {
  return errors.conflict(
    `${key.name} is not deployed: service ${service} has its data (mounted at ${target}) in ${source}, ` +
      "which does not exist any more, and would start without it; if it was moved, stop the " +
      `stack and copy it to ${place}, or move it back; what container ${container.name} may still have ` +
      `there goes with it. If nobody needs that, remove the container of ${service}`,
  );
}

/** The refusal of data that holds what is Stackwright's own. */
export function ours(key: StackKey, { service, target, source }: OldData) {
  return errors.path_escapes(
    `${key.name} is not adopted: the container of service ${service} mounts ${source} at ${target}, which ` +
      "holds data of Stackwright itself, and is not copied for a deployment; nothing was changed. " +
      "Choose another name for the stack, or remove that container",
  );
}

/** The refusal of data of which two copies exist that were written to. */
export function twofold({ name }: StackKey, hostLive: string, found: readonly OldData[]) {
  const places = found.map(({ service, target, source, path }) =>
    `service ${service} has its data (mounted at ${target}) in ${source}, and that of before is in ` +
    join(hostLive, path)
  );
  const how = found.some(({ owner }) => owner === undefined)
    ? "by somebody else since its last release here, or an old container of it was started again"
    : "with another data directory than this one";
  return errors.conflict(
    `${name} was deployed ${how}: ${fewOf(places, 20, "; ")}; ` +
      `nothing was changed. To go on with the first, move the second away: it is copied again; for the second: ` +
      fewOf(removals(found), 20, "; "),
  );
}

/** The commands that remove all containers that have some data: several may, of one service. */
function removals(found: readonly OldData[]): readonly string[] {
  const names = found.flatMap(({ container, holders }) => [container, ...holders])
    .map(({ name }) => name);
  return [...new Set(names)].map((name) => `docker rm -f ${name}`);
}
