import { join } from "node:path";
import { objectAt } from "../../compose/mod.ts";
import { parseObject } from "../../model/mod.ts";
import { type Files, readText } from "../../system/mod.ts";

/** Facts for giving a program further credentials for registries. */
export interface RegistryLogins {
  readonly files: Pick<
    Files,
    "list" | "makeTemporaryDirectory" | "readIfExists" | "remove" | "replaceLink" | "write"
  >;
  /** Beginning of the name of private directories. */
  readonly prefix: string;
  /** Directory of the engine client's configuration; it need not exist. */
  readonly directory: string;
  /** The credentials, as `config.json` has them (`DOCKER_AUTH_CONFIG`). */
  readonly logins: string;
}

/**
 * Works with variables that lead programs to the engine client's configuration with further credentials
 * in it. Not every version of compose and buildx reads them from a variable; all read a file, which is
 * in a private directory for as long as the work takes.
 */
export async function withRegistryLogins<T>(
  { files, prefix, directory, logins }: RegistryLogins,
  work: (environment: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const own = await files.makeTemporaryDirectory(prefix);
  try {
    const file = join(directory, "config.json");
    const known = await readText(files, file).catch(() => undefined);
    await files.write(join(own, "config.json"), mergedLogins(known, logins), { mode: 0o600 });
    for (const name of await files.list(directory).catch(() => [])) {
      if (name !== "config.json") await files.replaceLink(join(directory, name), join(own, name));
    }
    return await work({ DOCKER_CONFIG: own });
  } finally {
    await files.remove(own);
  }
}

/**
 * The text of a configuration with further credentials, which come before those that are there: also
 * before a helper that would be asked for that registry. A configuration that is no JSON is left out.
 */
export function mergedLogins(configuration: string | undefined, logins: string): string {
  const known = parseObject(configuration ?? "");
  const auths = objectAt(parseObject(logins), "auths");
  const asksNobody = Object.fromEntries(Object.keys(auths).map((registry) => [registry, ""]));
  return JSON.stringify({
    ...known,
    auths: { ...objectAt(known, "auths"), ...auths },
    credHelpers: { ...objectAt(known, "credHelpers"), ...asksNobody },
  });
}
