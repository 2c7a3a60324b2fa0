import type { SyncWindow } from "../config/mod.ts";
import type { Ledger } from "../record/mod.ts";
import type { Settings } from "../settings/mod.ts";

const NAME = "sync_windows";

/**
 * The sync windows that hold. Those of the service `serves` writes down; a command that has none of its
 * own keeps to them: whoever closed the service's windows did not mean only half of who deploys.
 */
export function windowsInForce(
  settings: Pick<Settings, "syncWindows">,
  { service }: Pick<Ledger, "service">,
  serves: boolean,
): readonly SyncWindow[] {
  if (serves) service.set(NAME, JSON.stringify(settings.syncWindows ?? []));
  return settings.syncWindows ?? JSON.parse(service.get(NAME) ?? "[]");
}
