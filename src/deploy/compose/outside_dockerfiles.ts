import { basename, join } from "node:path";
import {
  asPrinted,
  dockerfileBeside,
  isObject,
  mapServices,
  plainDollars,
  textAt,
} from "../../compose/mod.ts";
import { type ComposeModel, errors } from "../../model/mod.ts";
import type { Files } from "../../system/mod.ts";

/** Most bytes of a Dockerfile, and of each file beside it. */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * The model with private copies, below `directory`, of Dockerfiles that lie outside of their build contexts.
 * Buildx offers the engine the whole directory of a Dockerfile, and what other stacks of the commit have
 * decrypted lies in that checkout; the engine may be another context's.
 *
 * Throws `build_failed` for a Dockerfile of more than 4 MiB. One that is missing is left to compose to tell.
 */
export async function withOwnDockerfiles(
  files: Pick<Files, "makeDirectory" | "readIfExists" | "write">,
  model: ComposeModel,
  directory: string,
): Promise<ComposeModel> {
  const wanted = new Set<string>();
  mapServices(model, (service) => {
    const path = outsideOf(service["build"]);
    if (path !== undefined) wanted.add(path);
    return service;
  });
  const copies = new Map<string, string>();
  for (const path of wanted) {
    const copy = await copied(files, path, join(directory, `dockerfile-${copies.size}`));
    if (copy !== undefined) copies.set(path, copy);
  }
  return mapServices(model, (service) => {
    const { build } = service;
    const copy = copies.get(outsideOf(build) ?? "");
    if (copy === undefined || !isObject(build)) return service;
    return { ...service, build: { ...build, dockerfile: asPrinted(copy) } };
  });
}

/** The path of a build's Dockerfile that lies outside of its context. */
function outsideOf(build: unknown): string | undefined {
  if (!isObject(build)) return undefined;
  const path = dockerfileBeside(build, textAt(build, "context"));
  return path && plainDollars(path);
}

/** Copies a Dockerfile with what buildx reads beside it; `undefined` where there is none. */
async function copied(
  files: Pick<Files, "makeDirectory" | "readIfExists" | "write">,
  path: string,
  directory: string,
): Promise<string | undefined> {
  const copy = join(directory, basename(path));
  await files.makeDirectory(directory, { mode: 0o700 });
  for (const ending of ["", ".dockerignore", ".rego"]) {
    const bytes = await read(files, path + ending);
    if (bytes !== undefined) await files.write(copy + ending, bytes, { mode: 0o600 });
    else if (ending === "") return undefined;
  }
  return copy;
}

async function read(
  files: Pick<Files, "readIfExists">,
  path: string,
): Promise<Uint8Array | undefined> {
  try {
    return await files.readIfExists(path, MOST_BYTES);
  } catch (cause) {
    throw errors.build_failed(
      `${path}, which lies outside of its build context, cannot be copied for the build: it may have ` +
        `${MOST_BYTES / 1024 ** 2} MiB`,
      { cause },
    );
  }
}
