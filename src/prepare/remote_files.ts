import { basename, join } from "node:path";
import {
  type Copy,
  type IgnoredUses,
  objectsAt,
  plainDollars,
  printedInside,
  serviceOf,
  textAt,
  type TreeUse,
  withFilesVolumes,
} from "../compose/mod.ts";
import { LARGEST_COPY } from "../deploy/mod.ts";
import { compareVersions } from "../docker/api_version.ts";
import { type ComposeModel, type Deployment, errors } from "../model/mod.ts";
import { ABSENT } from "./content.ts";
import type { PrepareParts } from "./parts.ts";

/** API version since which a part of a volume can be mounted (Engine 26.0). */
const SUBPATH_API = "1.45";

/** Files of its repository that a deployment to another machine uses. */
interface RemoteFiles {
  readonly model: ComposeModel;
  readonly tree: string;
  readonly uses: readonly TreeUse[];
  readonly inPlace: Pick<IgnoredUses, "uses">;
  readonly isStack: boolean;
  contentOf(path: string): string;
}

/**
 * The model for an engine on another machine: with `REMOTE_FILES=volume`, containers mount volumes
 * with copies, which are named after their content, so that a changed file replaces exactly the
 * services that mount it.
 *
 * Throws `config_invalid` with every file that cannot be copied.
 */
export async function arrivingModel(
  { host, files, key }: Pick<PrepareParts, "host" | "files" | "key">,
  deployment: Pick<Deployment, "name" | "context">,
  { model, tree, uses, inPlace, isStack, contentOf }: RemoteFiles,
  signal: AbortSignal,
): Promise<ComposeModel> {
  const mounted = uses.filter(({ kind }) => kind !== "build");
  const copies = new Map<string, Copy>();
  const hasSubpaths = isStack || mounted.length === 0 ||
    compareVersions(await host.engine.apiVersion(signal), SUBPATH_API) >= 0;
  const refusals = new Map<TreeUse, string>();
  for (const use of mounted) {
    const real = await files.realPath(join(tree, use.path));
    const isDirectory = real !== undefined && (await files.stat(real))?.kind === "directory";
    const content = contentOf(use.path);
    // Files and directories need different mounts, so equal content must not share a name.
    const name = `${deployment.name}_files_${key.digest(`copy ${isDirectory} ${content}`)}`;
    copies.set(use.path, { name, isDirectory });
    const why = refusal(use, { isMissing: content === ABSENT, isDirectory, hasSubpaths }) ??
      (inPlace.uses.has(use)
        ? "a copy is not kept up to date in place, so recreate.ignore has to go"
        : isNamedVolume(use, model, tree)
        ? "a named volume that stands for files is not copied: mount them directly"
        : host.copiesFiles && !isStack && real !== undefined
        ? await sizeRefusal(files, real)
        : undefined);
    if (why !== undefined) refusals.set(use, why);
  }
  const whyNot = host.copiesFiles && !isStack
    ? (use: TreeUse) => refusals.get(use)
    : () => host.copiesFiles ? "not in a swarm, whose nodes have volumes of their own" : "";
  requireFilesArrive(deployment, uses, { isStack, whyNot });
  const copyOf = (path: string) =>
    copies.get(plainDollars(path)) ?? { name: "", isDirectory: false };
  return isStack ? model : withFilesVolumes(model, tree, copyOf);
}

function refusal(
  { writable }: TreeUse,
  { isMissing, isDirectory, hasSubpaths }: {
    readonly isMissing: boolean;
    readonly isDirectory: boolean;
    readonly hasSubpaths: boolean;
  },
): string | undefined {
  if (writable) return "only what is mounted read-only is copied (read_only: true, or :ro)";
  if (isMissing) return "there is nothing there to be copied";
  if (isDirectory || hasSubpaths) return undefined;
  return `its engine mounts copies of directories alone, those of files from Engine 26.0 on`;
}

/** Why files at or below a path are too large for a copy, naming the first one. */
async function sizeRefusal(
  files: Pick<PrepareParts["files"], "stat" | "list">,
  path: string,
): Promise<string | undefined> {
  const info = await files.stat(path);
  if (info?.kind === "file" && info.size > LARGEST_COPY) {
    return `${basename(path)} has more than ${LARGEST_COPY >> 20} MiB: put it into an image or a ` +
      "named volume";
  }
  for (const name of info?.kind === "directory" ? await files.list(path) : []) {
    const found = await sizeRefusal(files, join(path, name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a mount shows a file through a named volume, by its `driver_opts`. */
function isNamedVolume({ kind, service, item }: TreeUse, model: ComposeModel, tree: string) {
  return kind === "bind" &&
    !objectsAt(serviceOf(model, service), "volumes").some((each) =>
      each["type"] === "bind" && textAt(each, "target") === item &&
      printedInside(textAt(each, "source"), tree) !== undefined
    );
}

/**
 * Refuses mounted files that would be missing on a remote engine's machine, where engines create empty
 * directories in their place. `whyNot` returns why a file is not copied there, if it is not.
 *
 * Throws `config_invalid` with every source, and the alternatives.
 */
export function requireFilesArrive(
  { name, context }: Pick<Deployment, "name" | "context">,
  uses: readonly TreeUse[],
  { isStack, whyNot = () => "" }: {
    readonly isStack: boolean;
    readonly whyNot?: (use: TreeUse) => string | undefined;
  },
): void {
  // Build contexts are sent to the engine, and so is the content of a swarm's configs and secrets.
  const missing = uses.filter((use) =>
    (use.kind === "bind" || (!isStack && use.kind !== "build")) && whyNot(use) !== undefined
  );
  if (missing.length === 0) return;
  const lines = missing.map((use) => {
    const { service, kind, item, path } = use;
    const what = kind === "bind" ? `${item} of` : `the ${kind} ${item} of`;
    const why = whyNot(use) ?? "";
    return `${what} service ${service} is ${path} of the repository${why && ` (${why})`}`;
  });
  const isOff = !isStack && missing.some((use) => whyNot(use) === "");
  throw errors.config_invalid(
    `deployment ${name}: the engine of the context ${context} is on another machine, where the ` +
      `files of the repository are not: ${[...new Set(lines)].sort().join("; ")}. What gets ` +
      "there: configs and secrets with content or environment, images that have the files inside " +
      "(build), named volumes, paths of that " +
      `machine${isOff ? ", and with REMOTE_FILES=volume copies of what is only read" : ""}. ` +
      "Nothing was changed",
  );
}
