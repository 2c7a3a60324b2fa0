import type { EngineClient } from "../docker/mod.ts";
import { DEFAULT_CONTEXT } from "../model/mod.ts";
import type { Host, Hosts } from "../prepare/mod.ts";
import type { Settings } from "../settings/mod.ts";
import type { Engines } from "./engines.ts";
import { createHost, type HostParts } from "./host.ts";
import { type Ask, onceDone } from "./remember.ts";
import type { System } from "./system.ts";

interface HostsParts extends Omit<HostParts, "engine" | "context"> {
  readonly engines: Engines;
}

/** Makes the hosts of all contexts, each on first use, and again when its client is replaced. */
export function createHosts(settings: Settings, system: System, parts: HostsParts): Hosts {
  const { engines, ...others } = parts;
  const made = new WeakMap<EngineClient, Ask<Host>>();
  const hosts: Hosts = {
    async of(context, signal) {
      const engine = await engines.of(context);
      const known = made.get(engine.client) ?? onceDone(async (within: AbortSignal) => {
        // Another engine on this machine sees the data directory where the default one does.
        const shared = context === DEFAULT_CONTEXT || !engine.sharesFiles
          ? {}
          : { dataDir: (await hosts.of(DEFAULT_CONTEXT, within)).dataDir };
        const own = { ...others, ...shared, engine, context };
        return await createHost(settings, system, own, within);
      });
      made.set(engine.client, known);
      return await known(signal);
    },
    has: (context) => engines.has(context),
  };
  return hosts;
}
