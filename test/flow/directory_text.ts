import { createHash } from "node:crypto";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";

/**
 * Everything below a directory as one text: paths, modes, times of change and contents. Two equal texts
 * mean that nobody wrote there. `ignore` matches paths below it that do not count.
 */
export async function directoryText(directory: string, ignore = /^$/): Promise<string> {
  const lines: string[] = [];
  for (const path of (await readdir(directory, { recursive: true })).sort()) {
    if (ignore.test(path)) continue;
    const place = join(directory, path);
    const info = await lstat(place);
    const content = info.isSymbolicLink()
      ? await readlink(place)
      : info.isFile()
      ? createHash("sha256").update(await readFile(place)).digest("hex")
      : "";
    const changed = info.isFile() ? info.mtimeMs : "";
    lines.push(`${path} ${info.mode.toString(8)} ${changed} ${content}`);
  }
  return lines.join("\n");
}
