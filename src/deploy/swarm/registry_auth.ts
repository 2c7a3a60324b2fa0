import { Buffer } from "node:buffer";
import { isObject, objectAt, textAt } from "../../compose/mod.ts";

const HUB = "https://index.docker.io/v1/";

/**
 * Credentials for the registry of an image as `X-Registry-Auth` has them, from the configuration of the
 * docker client; empty where it has none. Helpers that programs would have to be asked are not.
 */
export function registryAuth(configuration: string | undefined, image: string): string {
  const registry = registryOf(image);
  const auths = objectAt(parsed(configuration ?? ""), "auths");
  const names = registry === "docker.io"
    ? [HUB, "index.docker.io", "docker.io"]
    : [registry, `https://${registry}`, `https://${registry}/`, `http://${registry}`];
  const entry = names.map((name) => objectAt(auths, name)).find((each) =>
    Object.keys(each).length > 0
  );
  if (entry === undefined) return "";
  const [, user = "", word = ""] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(textAt(entry, "auth"), "base64").toString()) ?? [];
  const token = textAt(entry, "identitytoken");
  const credentials = {
    username: textAt(entry, "username") || user,
    ...(token === ""
      ? { password: textAt(entry, "password") || word.replace(/\0+$/, "") }
      : { identitytoken: token }),
    serveraddress: registry === "docker.io" ? HUB : registry,
  };
  return Buffer.from(JSON.stringify(credentials)).toString("base64url");
}

/** The host that an image is fetched from; the first part of its name if that looks like one. */
export function registryOf(image: string): string {
  const [first = "", ...rest] = image.split("/");
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  return isHost && first !== "index.docker.io" ? first : "docker.io";
}

function parsed(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
