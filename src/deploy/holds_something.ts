import type { Files } from "../system/mod.ts";

/** Bytes of a directory whose names alone would take seconds to read: it is taken not to be empty. */
const LARGE_DIRECTORY = 1 << 20;

/** Whether there is a file at a path, or a directory that is not empty. */
export async function holdsSomething(
  files: Pick<Files, "list" | "stat">,
  place: string,
): Promise<boolean> {
  const info = await files.stat(place);
  if (info?.kind !== "directory") return info !== undefined;
  return info.size > LARGE_DIRECTORY || (await files.list(place)).length > 0;
}
