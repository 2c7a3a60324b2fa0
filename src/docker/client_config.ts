import { type Files, MOST_GIVEN, readText } from "../system/mod.ts";

/** The text of docker's configuration; `undefined` where it cannot be read, which docker itself reports. */
export async function readClientConfig(
  files: Pick<Files, "readIfExists">,
  path: string,
): Promise<string | undefined> {
  return await readText(files, path, MOST_GIVEN).catch(() => undefined);
}
