import { Buffer } from "node:buffer";
import { parseObject, withoutEnd } from "../model/mod.ts";
import { embeddedSecrets } from "../system/mod.ts";
import { isObject, type JsonObject, objectAt, textAt } from "./model.ts";

/** The credentials in the docker client's configuration; none in a text that is not JSON. */
export function registrySecrets(text: string): string[] {
  const configuration = parseObject(text);
  const entries = Object.values(objectAt(configuration, "auths")).filter(isObject);
  const headers = Object.values(objectAt(configuration, "HttpHeaders")).map(String);
  return [
    ...entries.flatMap(secretsOfEntry),
    ...headers,
    ...embeddedSecrets(JSON.stringify(objectAt(configuration, "proxies"))),
  ].filter((each) => each !== "");
}

function secretsOfEntry(entry: JsonObject): string[] {
  const auth = textAt(entry, "auth");
  const [, password = ""] = /^[^:]*:(.*)$/s.exec(Buffer.from(auth, "base64").toString()) ?? [];
  const others = ["password", "identitytoken", "registrytoken"].map((key) => textAt(entry, key));
  return [auth, withoutEnd(password, "\0"), ...others];
}
