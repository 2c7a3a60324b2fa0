import { servicesOf, textAt } from "../compose/mod.ts";
import { type ComposeModel, errors } from "../model/mod.ts";
import { readText } from "../system/mod.ts";
import type { PrepareParts } from "./parts.ts";

/**
 * Refuses a model of whose services one runs in the control group of this process: it would have a share
 * of our memory, and what is there while we are not may keep our container from starting again.
 *
 * Throws `path_escapes`.
 */
export async function requireNotOurGroup(
  { files, host }: Pick<PrepareParts, "files" | "host">,
  name: string,
  model: ComposeModel,
  signal: AbortSignal,
): Promise<void> {
  const parents = Object.entries(servicesOf(model))
    .map(([service, body]) => ({ service, parent: textAt(body, "cgroup_parent") }))
    .filter(({ parent }) => parent !== "");
  if (parents.length === 0 || !host.sharesFiles) return;
  const groups = await readText(files, "/proc/self/cgroup") ?? "";
  // A runtime takes a path for one below the root, or below a group of its own: the last name tells ours.
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
