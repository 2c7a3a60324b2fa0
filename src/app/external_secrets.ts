import {
  createExternalSecrets,
  createSecretProvider,
  type ExternalSecrets,
} from "../secrets/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { createHttpClient, type HttpClient, MOST_GIVEN, readText } from "../system/mod.ts";
import type { System } from "./system.ts";

/** Makes a client for other servers, with the settings' proxies and the system's certificates. */
export async function httpClient(settings: Settings, { env, files }: System): Promise<HttpClient> {
  const caFile = env["SSL_CERT_FILE"] ?? "";
  const caCertificates = caFile === "" ? undefined : await readText(files, caFile, MOST_GIVEN);
  return createHttpClient({ proxy: settings.proxy, caCertificates });
}

/** The external secrets of the settings' provider; without one, resolving a reference fails. */
export function externalSecrets(
  { secretProvider }: Settings,
  { clock, redactor }: System,
  http: HttpClient,
): ExternalSecrets {
  const provider = secretProvider === undefined
    ? undefined
    : createSecretProvider(secretProvider, { http, clock, random: Math.random });
  return createExternalSecrets({ provider, redactor });
}
