import type { Host } from "../prepare/mod.ts";
import { createTreeCollector, type TreeCollector } from "../pipeline/mod.ts";
import type { Ledger } from "../record/mod.ts";
import type { Settings } from "../settings/mod.ts";
import type { GitSourceWithTrees } from "../source/mod.ts";
import { contextsOf } from "./each_context.ts";
import type { Engines } from "./engines.ts";
import type { System } from "./system.ts";

/** A collector that removes nothing: for plans, and where collection is disabled. */
export const NO_COLLECTOR: TreeCollector = { collect: () => Promise.resolve() };

/** Makes the collector of trees that no release of any context on this machine needs. */
export function treeCollector(
  { data, deploy }: Settings,
  { files, clock, log }: System,
  { ledger, engines, host, source: { trees, mirrors } }: {
    readonly ledger: Ledger;
    readonly engines: Engines;
    readonly host: Host;
    readonly source: GitSourceWithTrees;
  },
): TreeCollector {
  const directories = { dataDir: data.dir, hostDataDir: host.dataDir };
  const previousReleases = deploy.artifactGcRetentionRecords;
  // Engines elsewhere do not see this machine's files.
  const here = async () => {
    const found = await Promise.all([...contextsOf(ledger)].map(async (context) => {
      const engine = await engines.of(context).catch(() => undefined);
      if (engine === undefined) return [{ context }];
      return engine.sharesFiles ? [{ context, client: engine.client }] : [];
    }));
    return found.flat();
  };
  const parts = { trees, mirrors, engines: here, ledger, files, clock, log, previousReleases };
  return createTreeCollector({ ...parts, ...directories });
}
