import { join } from "node:path";
import { objectAt } from "../../compose/mod.ts";
import { parseObject } from "../../model/mod.ts";
import { readClientConfig } from "../../docker/mod.ts";
import { type Files, withTemporaryDirectory } from "../../system/mod.ts";

/** Inputs for giving a program further credentials for registries. */
export interface RegistryLogins {
  readonly files: Pick<
    Files,
    "list" | "makeTemporaryDirectory" | "readIfExists" | "remove" | "replaceLink" | "write"
  >;
  /** Prefix of the names of private directories. */
  readonly prefix: string;
  /** Directory of the engine client's configuration; may be missing. */
  readonly directory: string;
  /** Credentials in the format of `config.json` (`DOCKER_AUTH_CONFIG`). */
  readonly logins: string;
}

/**
 * Runs work with variables that point programs to a copy of the engine client's configuration with
 * further credentials. Some versions of compose and buildx do not read credentials from a variable;
 * all read a file, which exists in a private directory during the work.
 */
export async function withRegistryLogins<T>(
  { files, prefix, directory, logins }: RegistryLogins,
  work: (environment: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  return await withTemporaryDirectory(files, prefix, async (own) => {
    const file = join(directory, "config.json");
    const known = await readClientConfig(files, file);
    await files.write(join(own, "config.json"), mergedLogins(known, logins), { mode: 0o600 });
    for (const name of await files.list(directory).catch(() => [])) {
      if (name !== "config.json") await files.replaceLink(join(directory, name), join(own, name));
    }
    return await work({ DOCKER_CONFIG: own });
  });
}

/**
 * The text of a configuration with further credentials, which win over existing entries and over a
 * credential helper for the same registry. A configuration that is not JSON is left out.
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
