import { basename, isAbsolute, join, resolve } from "node:path";
import {
  asPrinted,
  isObject,
  mapServices,
  plainDollars,
  servicesOf,
  textAt,
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
 * Throws `build_failed` where they have more than 16 MiB together. One that is missing is left to compose to tell.
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
    const copy = await copied(files, path, join(directory, `dockerfile-${copies.size}`), room);
    if (copy !== undefined) copies.set(path, copy);
  }
  return mapServices(model, (service) => {
    const { build } = service;
    const copy = copies.get(dockerfileOf(build) ?? "");
    if (copy === undefined || !isObject(build)) return service;
    return { ...service, build: { ...build, dockerfile: asPrinted(copy) } };
  });
}

/** The path of a build's Dockerfile; `undefined` where it has none of a checkout. */
function dockerfileOf(build: unknown): string | undefined {
  if (!isObject(build) || build["dockerfile_inline"] !== undefined) return undefined;
  const path = resolve(textAt(build, "context"), textAt(build, "dockerfile") || "Dockerfile");
  return isAbsolute(textAt(build, "context")) ? plainDollars(path) : undefined;
}

/** Copies a Dockerfile with what buildx reads beside it; `undefined` where there is none. */
async function copied(
  files: Copying,
  path: string,
  directory: string,
  room: { bytes: number },
): Promise<string | undefined> {
  const copy = join(directory, basename(path));
  await files.makeDirectory(directory, { mode: 0o700 });
  for (const ending of ["", ".dockerignore", ".rego"]) {
    const bytes = await read(files, path + ending, room.bytes);
    if (bytes === undefined && ending === "") return undefined;
    if (bytes === undefined) continue;
    room.bytes -= bytes.length;
    await files.write(copy + ending, bytes, { mode: 0o600 });
  }
  return copy;
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
