import { parentsOf } from "../compose/mod.ts";
import { fewOf, isStackwrightError } from "../model/mod.ts";
import { createPauses } from "../system/mod.ts";
import type { OldDataParts } from "./copy_old_data.ts";
import { isDown } from "./left_orphans.ts";
import { plainPath } from "./moved_mounts.ts";
import type { OldData } from "./old_data.ts";

/**
 * Who else mounts one of the directories, something in it, or a directory around it, up to some above the
 * copy of the repository: compose projects, containers without one, and of the stack's own those that are
 * `left` and one-offs that run, but for those that have `ended` by then. Not Stackwright, nor doco-cd, which
 * mounts all copies. Of the directories around a mount only those as long as a wanted one are looked up:
 * mounts are as many, and as deep, as others make them.
 */
export async function sharersOf(
  { host }: Pick<OldDataParts, "host">,
  { name, ...of }: Readonly<Record<"left" | "ended", readonly { readonly id: string }[]>> & {
    readonly name: string;
  },
  wanted: readonly Pick<OldData, "source" | "path">[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const pauses = createPauses();
  const [left, ended] = [of.left, of.ended].map((each) => new Set(each.map(({ id }) => id)));
  const found = new Map(wanted.map(({ source }) => [plainPath(source), new Set<string>()]));
  const lengths = new Set([...found.keys()].map(({ length }) => length));
  const around = new Map<string, string[]>();
  for (const { source, path } of wanted) {
    const at = plainPath(source);
    const most = path.split("/").length + DIRECTORIES_ABOVE;
    for (const outer of parentsOf(at).slice(0, most).filter((each) => each !== "/")) {
      await pauses.after(outer.length);
      around.set(outer, [...around.get(outer) ?? [], at]);
    }
  }
  // Nothing depends on the warning: an engine with more containers than are read gets none.
  const all = wanted.length === 0
    ? []
    : await host.engine.containerMounts(signal).catch((thrown) => {
      if (!isStackwrightError(thrown, "engine_refused")) throw thrown;
      return [];
    });
  const us = wanted.length === 0 ? undefined : (await host.own(signal))?.container.id;
  for (const { id, project, mounts, ...each } of all) {
    const isLeft = left?.has(id) ||
      project === name && each.isOneOff && !ended?.has(id) && !isDown(each);
    if (project === name && !isLeft || id === us || PEER_IMAGE.test(each.image)) continue;
    const who = project === "" || isLeft ? `container ${each.name}` : project;
    for (const mount of mounts) {
      for (const length of lengths) {
        if (!endsAt(mount, length)) continue;
        await pauses.after(length);
        found.get(mount.slice(0, length))?.add(who);
      }
      await pauses.after(mount.length);
      for (const at of around.get(mount) ?? []) found.get(at)?.add(who);
    }
  }
  const shared = wanted.flatMap(({ source }) => {
    const projects = [...found.get(plainPath(source)) ?? []];
    return projects.length === 0 ? [] : [[source, fewOf(projects.sort(), MOST_NAMED)] as const];
  });
  return new Map(shared);
}

/** Whether a directory around a path, or the path itself, has so many characters. */
function endsAt(path: string, length: number): boolean {
  return path.length === length || path[length] === "/" || (length === 1 && path[0] === "/");
}

/** Directories above the copy of a repository that a backup may mount: OWNER, HOST and the data directory. */
const DIRECTORIES_ABOVE = 3;
/** Image of doco-cd itself. */
const PEER_IMAGE = /(?:^|\/)doco-cd(?:[:@]|$)/;

/** Others that are named of each directory. */
const MOST_NAMED = 5;
