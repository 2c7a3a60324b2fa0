import { Buffer } from "node:buffer";
import { isStackwrightError } from "../model/mod.ts";
import { type EngineApi, pathName } from "./api.ts";
import { unhurried } from "./answer.ts";

/** Bytes of an archive that are read: the headers of a small file, and the file. */
const MOST_READ = 8 << 10;
/** Milliseconds for one file: volumes of a container may keep the engine waiting. */
const FILE_LIMIT_MS = 20_000;

/** Whether a small file of a container has a text; false as well where the engine refuses to tell. */
export async function fileHas(
  api: EngineApi,
  id: string,
  { path, text }: { readonly path: string; readonly text: string },
  signal: AbortSignal,
): Promise<boolean> {
  const place = `/containers/${pathName(id)}/archive`;
  const request = { method: "GET", path: place, query: { path }, limitMs: FILE_LIMIT_MS } as const;
  const read = api.turns.inTime(request, signal, async (within, apart) => {
    let archive = Buffer.alloc(0);
    for await (
      const chunk of unhurried(await api.call(request, within), api.clock, within, apart)
    ) {
      archive = Buffer.concat([archive, chunk]);
      if (archive.length >= MOST_READ) break;
    }
    return archive.includes(text);
  });
  return await read.catch((error) => {
    if (!isStackwrightError(error, "engine_refused")) throw error;
    return false;
  });
}
