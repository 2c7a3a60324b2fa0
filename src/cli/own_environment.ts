import process from "node:process";

/** Variables from which runtimes take proxies by themselves. */
const PROXIES = /^(?:https?|all|no)_proxy$/i;

/**
 * The environment of this process as it was. Proxies are taken out of the process itself: which of them a
 * request goes through say the settings, and a runtime would send those to this machine there as well,
 * with the credentials in them. To be called once.
 */
export function ownEnvironment(): Readonly<Record<string, string | undefined>> {
  const own = { ...process.env };
  for (const name of Object.keys(own)) if (PROXIES.test(name)) delete process.env[name];
  return own;
}
