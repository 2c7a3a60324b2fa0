import { servicesOf, textAt } from "../compose/mod.ts";
import { type ComposeModel, errors } from "../model/mod.ts";
import { procText } from "../system/mod.ts";
import type { PlaceParts } from "./our_places.ts";

/**
 * Refuses a model with a service in this process's control group: it would share our memory limit,
 * and a group in use while we are down may prevent our container from starting again.
 *
 * Throws `path_escapes`.
 */
export async function requireNotOurGroup(
  { files, host }: Pick<PlaceParts, "files" | "host">,
  name: string,
  model: ComposeModel,
  signal: AbortSignal,
): Promise<void> {
  const parents = Object.entries(servicesOf(model))
    .map(([service, body]) => ({ service, parent: textAt(body, "cgroup_parent") }))
    .filter(({ parent }) => parent !== "");
  if (parents.length === 0 || !await host.isHere(signal)) return;
  const groups = await procText(files, "/proc/self/cgroup");
  // Runtimes place it below the root, or below a group of their own: the last name is certain.
  const names = groups.split("\n").map((line) => /[^/]+$/.exec(line)?.[0] ?? "");
  const id = (await host.own(signal))?.container.id;
  const isOurs = (part: string) =>
    part !== "" && names.includes(part) || id !== undefined && part.includes(id);
  const found = parents.find(({ parent }) => parent.split("/").some(isOurs));
  if (found === undefined) return;
  const group = found.parent.slice(0, 200);
  throw errors.path_escapes(
    `deployment ${name}: service ${found.service}: cgroup_parent: ${group} is the control group of ` +
      "Stackwright itself, which no deployment may share; name another one",
  );
}
