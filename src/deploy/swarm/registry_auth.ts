import { Buffer } from "node:buffer";
import { objectAt, textAt } from "../../compose/mod.ts";
import { registryOf } from "../compose/registry_hint.ts";
import { parseObject } from "../../model/mod.ts";

const HUB = "https://index.docker.io/v1/";

/** A credential helper, and the server name under which it keeps the credentials of a registry. */
interface CredentialHelper {
  readonly program: string;
  readonly server: string;
}

/** The credential helper for the registry of an image, if the configuration names one. */
export function credentialHelper(
  configuration: string | undefined,
  image: string,
): CredentialHelper | undefined {
  const registry = registryOf(image);
  const server = registry === "docker.io" ? HUB : registry;
  const client = parseObject(configuration ?? "");
  const helper = textAt(objectAt(client, "credHelpers"), server) || textAt(client, "credsStore");
  return /^[\w.-]+$/.test(helper) ? { program: `docker-credential-${helper}`, server } : undefined;
}

/** The answer of a helper as a client configuration; `undefined` for any other output. */
export function helperConfiguration(
  answer: string,
  { server }: CredentialHelper,
): string | undefined {
  const given = parseObject(answer);
  const [username, secret] = [textAt(given, "Username"), textAt(given, "Secret")];
  if (secret === "") return undefined;
  const login = username === "<token>" ? { identitytoken: secret } : { username, password: secret };
  return JSON.stringify({ auths: { [server]: login } });
}

/** Credentials for the registry of an image in the format of `X-Registry-Auth`; empty without any. */
export function registryAuth(configuration: string | undefined, image: string): string {
  const registry = registryOf(image);
  const auths = objectAt(parseObject(configuration ?? ""), "auths");
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
  // With padding: without it the engine silently ignores the header.
  return Buffer.from(JSON.stringify(credentials)).toString("base64")
    .replaceAll("+", "-").replaceAll("/", "_");
}
