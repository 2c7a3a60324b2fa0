import type { TreeUse } from "../compose/mod.ts";
import { type Deployment, StackwrightError } from "../model/mod.ts";

/**
 * Refuses what the containers of a remote engine would not find: their files would have to lie on a
 * machine that sees none of ours, and engines make empty directories in their place.
 *
 * Throws `config_invalid` with every source, and what does work there.
 */
export function requireFilesArrive(
  { name, context }: Pick<Deployment, "name" | "context">,
  uses: readonly TreeUse[],
  { isStack }: { readonly isStack: boolean },
): void {
  // What images are built from is sent to the engine, and so is content of a swarm's objects.
  const missing = uses.filter(({ kind }) => kind === "bind" || (!isStack && kind !== "build"));
  if (missing.length === 0) return;
  const lines = missing.map(({ service, kind, item, path }) => {
    const what = kind === "bind" ? `${item} of` : `the ${kind} ${item} of`;
    return `${what} service ${service} is ${path} of the repository`;
  });
  throw new StackwrightError(
    "config_invalid",
    `deployment ${name}: the engine of the context ${context} is on another machine, where the files ` +
      `of the repository are not: ${
        [...new Set(lines)].sort().join("; ")
      }. What gets there: configs ` +
      `and secrets with content or environment, images that have the files inside (build), named ` +
      `volumes, paths of that machine. Nothing was changed`,
  );
}
