import { Buffer } from "node:buffer";
import { isObject, objectAt, textAt } from "../../compose/mod.ts";
import { registryOf } from "../compose/registry_hint.ts";

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

function parsed(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
