import { basename, join } from "node:path";
import {
  asPrinted,
  dockerfileNames,
  dockerfileOf,
  isObject,
  mapServices,
  plainDollars,
  READ_BESIDE,
  servicesOf,
} from "../../compose/mod.ts";
import { type ComposeModel, errors, messageOf } from "../../model/mod.ts";
import type { Files } from "../../system/mod.ts";

/** Most bytes of all Dockerfiles of a build, and of what is read beside them. */
const MOST_BYTES = 16 * 1024 * 1024;

type Copying = Pick<Files, "makeDirectory" | "readIfExists" | "write">;

/**
 * The model with private copies, below `directory`, of the Dockerfiles of its builds. Buildx offers the engine
 * the whole directory that a Dockerfile's path leads to, by whichever links, and what other stacks of the
 * commit have decrypted lies in that checkout; the engine may be another context's.
 *
 * Throws `build_failed` where they have more than 16 MiB together. The build of one that is missing gets an
 * empty directory, and tells: its services may not be built at all.
 */
export async function withOwnDockerfiles(
  files: Copying,
  model: ComposeModel,
  directory: string,
): Promise<ComposeModel> {
  const wanted = new Set(
    Object.values(servicesOf(model)).flatMap(({ build }) => dockerfileOf(build) ?? []),
  );
  const copies = new Map<string, string>();
  const room = { bytes: MOST_BYTES };
  for (const path of wanted) {
    const own = join(directory, `dockerfile-${copies.size}`);
    copies.set(path, await copied(files, plainDollars(path), own, room));
  }
  return mapServices(model, (service) => {
    const { build } = service;
    const copy = copies.get(dockerfileOf(build) ?? "");
    if (copy === undefined || !isObject(build)) return service;
    return { ...service, build: { ...build, dockerfile: asPrinted(copy) } };
  });
}

/** Copies a Dockerfile, found as buildx finds it, with what is read beside it; the path of the copy. */
async function copied(
  files: Copying,
  path: string,
  directory: string,
  room: { bytes: number },
): Promise<string> {
  await files.makeDirectory(directory, { mode: 0o700 });
  const isCopied = async (from: string) => {
    const bytes = await read(files, from, room.bytes);
    if (bytes === undefined) return false;
    room.bytes -= bytes.length;
    await files.write(join(directory, basename(from)), bytes, { mode: 0o600 });
    return true;
  };
  for (const name of dockerfileNames(path)) {
    if (!await isCopied(name)) continue;
    for (const ending of READ_BESIDE) await isCopied(name + ending);
    return join(directory, basename(name));
  }
  return join(directory, basename(path));
}

async function read(
  files: Copying,
  path: string,
  room: number,
): Promise<Uint8Array | undefined> {
  try {
    return await files.readIfExists(path, room);
  } catch (cause) {
    throw errors.build_failed(
      `${basename(path)} cannot be copied for the build: ${messageOf(cause)}; all Dockerfiles ` +
        `of a stack may have ${MOST_BYTES / 1024 ** 2} MiB together`,
      { cause },
    );
  }
}
