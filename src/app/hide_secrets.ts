import { join } from "node:path";
import { registrySecrets } from "../compose/mod.ts";
import { readClientConfig } from "../docker/mod.ts";
import { secretValues, type Settings } from "../settings/mod.ts";
import { clientConfigDir } from "./engines.ts";
import type { System } from "./system.ts";

/**
 * Tells the redactor the secrets of the settings and the logins in the docker client's
 * configuration. Call it before anything is logged: the engine of another context may quote logins
 * that it was given earlier. May be called again; an unreadable configuration counts as empty.
 */
export async function hideSecrets(settings: Settings, system: System): Promise<void> {
  const file = join(clientConfigDir(settings, system), "config.json");
  const text = await readClientConfig(system.files, file);
  const logins = [settings.docker.authConfig, text].flatMap((each) => registrySecrets(each ?? ""));
  [...secretValues(settings), ...logins].forEach((value) => system.redactor.add(value));
}
