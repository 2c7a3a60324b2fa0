import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Files, MOST_GIVEN } from "../../system/mod.ts";
import { clientConfiguration } from "./find_program.ts";

type Sharing = Pick<
  Files,
  "list" | "makeDirectory" | "readIfExists" | "replaceLink" | "stat" | "write"
>;

/** Directory of buildx's record of builds: a file for each, which nothing but `buildx rm` removes. */
const RECORD = "refs";

/** By it engines know a context again, of which they then get what changed alone. */
const NODE_ID = ".buildNodeID";

/**
 * A directory `own` with what buildx knows of builders (`BUILDX_CONFIG`), without its record of builds: one
 * author would fill the disk with it. Its files are copied, since buildx replaces no links; directories are links.
 */
export async function withOwnBuilders(
  files: Sharing,
  env: Readonly<Record<string, string | undefined>>,
  own: string,
): Promise<Readonly<Record<string, string>>> {
  const known = env["BUILDX_CONFIG"] || join(clientConfiguration(env), "buildx");
  await files.makeDirectory(own, { mode: 0o700 });
  // Where the directory may not be written to, each build has an id of its own.
  if (await files.stat(join(known, NODE_ID)) === undefined) {
    await files.makeDirectory(known, { mode: 0o700 })
      .then(() =>
        files.write(join(known, NODE_ID), randomBytes(8).toString("hex"), { mode: 0o600 })
      )
      .catch(() => {});
  }
  for (const name of await files.list(known)) {
    const [from, to] = [join(known, name), join(own, name)];
    if (name === RECORD) continue;
    const isFile = (await files.stat(from))?.kind === "file";
    const data = isFile ? await files.readIfExists(from, MOST_GIVEN) : undefined;
    if (data !== undefined) await files.write(to, data, { mode: 0o600 });
    else if (!isFile) await files.replaceLink(from, to);
  }
  return { BUILDX_CONFIG: own };
}
