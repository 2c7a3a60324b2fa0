import { memberOf, parseJson } from "../../model/mod.ts";

/** The part of the engine client's configuration that concerns registries. */
interface ClientConfiguration {
  /** Path of the file, for people. */
  readonly path: string;
  /** Its text; `undefined` when there is no file. */
  readonly text: string | undefined;
}

const REFUSED =
  /denied|unauthorized|authentication required|no basic auth|credentials|\b40[13]\b|insufficient[_ ]scope/i;
const DOCKER_HUB = "docker.io";
const DOCKER_HUB_KEYS = ["docker.io", "index.docker.io", "registry-1.docker.io"];

/**
 * A hint for when a registry refused an image: which registry, which configuration file was read, and
 * what the file has for that registry. Empty for another reason. Never repeats a credential.
 */
export function registryHint(
  failure: string,
  images: readonly string[],
  configuration: ClientConfiguration,
): string {
  if (!REFUSED.test(failure)) return "";
  const registries = [...new Set(images.map(registryOf))];
  const named = registries.filter((registry) => failure.includes(registry));
  const asked = named.length > 0 ? named : registries;
  if (asked.length === 0) return "";
  return asked.map((registry) => `${registry} refused: ${whatIsThere(registry, configuration)}`)
    .join("; ");
}

/**
 * The registry of an image reference: its first part when that is a host, else Docker Hub. Like the
 * engine, takes a first part with a capital letter for a host: no name at Docker Hub has one, and
 * credentials for Docker Hub must not go to another host.
 */
export function registryOf(image: string): string {
  const [first = "", ...rest] = image.split("/");
  const isHost = rest.length > 0 &&
    (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  return isHost && !DOCKER_HUB_KEYS.includes(first) ? first : DOCKER_HUB;
}

function whatIsThere(registry: string, { path, text }: ClientConfiguration): string {
  const remedy = `docker login ${registry === DOCKER_HUB ? "" : registry}`.trim();
  if (text === undefined) {
    return `there is no ${path} with credentials; mount one, or run '${remedy}' for its user`;
  }
  const configuration = parseJson(text);
  if (configuration === undefined) {
    return `${path} is not valid JSON, so no credentials were sent`;
  }
  const helper = entryOf(memberOf(configuration, "credHelpers"), registry) ??
    memberOf(configuration, "credsStore");
  const entry = entryOf(memberOf(configuration, "auths"), registry);
  if (typeof helper === "string" && helper !== "") {
    return `${path} leaves its credentials to the program docker-credential-${helper}; see that it ` +
      "is in the PATH, and that it has credentials for it";
  }
  if (entry === undefined) {
    return `${path} has no entry for it; run '${remedy}' with this configuration`;
  }
  const hasSecret = ["auth", "password", "identitytoken", "registrytoken"].some((key) =>
    typeof memberOf(entry, key) === "string" && memberOf(entry, key) !== ""
  );
  return hasSecret
    ? `${path} has credentials for it, which are wrong, expired, or may not read this image`
    : `the entry of ${path} for it holds no credentials; run '${remedy}' with this configuration`;
}

function entryOf(entries: unknown, registry: string): unknown {
  if (typeof entries !== "object" || entries === null) return undefined;
  const names = registry === DOCKER_HUB ? DOCKER_HUB_KEYS : [registry];
  const found = Object.entries(entries).find(([key]) =>
    names.includes(key.replace(/^https?:\/\//i, "").replace(/\/.*$/, ""))
  );
  return found?.[1];
}
