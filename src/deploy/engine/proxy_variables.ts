import { isObject, objectAt } from "../../compose/mod.ts";
import { parseObject } from "../../model/mod.ts";

/** Variables of containers by the key of a proxy in the docker client's configuration. */
const VARIABLES: Readonly<Record<string, string>> = {
  httpProxy: "HTTP_PROXY",
  httpsProxy: "HTTPS_PROXY",
  noProxy: "NO_PROXY",
  ftpProxy: "FTP_PROXY",
  allProxy: "ALL_PROXY",
};

/** Variables of the docker client's configuration for every container on the engine at `host`. */
export function proxyVariables(text: string, host: string): Record<string, string> {
  const proxies = objectAt(parseObject(text), "proxies");
  const chosen = isObject(proxies[host]) ? proxies[host] : objectAt(proxies, "default");
  return Object.fromEntries(
    Object.entries(VARIABLES).flatMap(([key, name]) => {
      const value = chosen[key];
      if (typeof value !== "string" || value === "") return [];
      return [[name, value], [name.toLowerCase(), value]];
    }),
  );
}
