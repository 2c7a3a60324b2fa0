import { join } from "node:path";
import { registrySecrets } from "../compose/mod.ts";
import { secretValues, type Settings } from "../settings/mod.ts";
import { readText } from "../system/mod.ts";
import { clientConfigDir } from "./engines.ts";
import type { System } from "./system.ts";

/**
 * Makes the secrets of the settings and of the engine client's configuration unprintable. To be called
 * before anything is printed: an engine of another context may say what it was given long ago. May be
 * called again; a configuration that cannot be read has none.
 */
export async function hideSecrets(settings: Settings, system: System): Promise<void> {
  const file = join(clientConfigDir(settings, system), "config.json");
  const text = await readText(system.files, file).catch(() => undefined);
  const logins = [settings.docker.authConfig, text].flatMap((each) => registrySecrets(each ?? ""));
  [...secretValues(settings), ...logins].forEach((value) => system.redactor.add(value));
}
