import type { Engine } from "../../docker/engine.ts";
import type { ComposeModel } from "../../model/mod.ts";
import type { Clock, Log } from "../../system/mod.ts";
import type { Changes } from "../backend.ts";
import type { Compose } from "../compose/program.ts";

/** Ports for changing containers. */
export interface EngineBackendParts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  /** Whether what is done is told at `debug` only, not at `info`. */
  readonly quiet: boolean;
  /** Carries out what we do not map. */
  readonly compose: Pick<Compose, "up" | "knownVersion">;
  /** Variables that every container gets below its own, as for proxies. */
  readonly variables: () => Promise<Readonly<Record<string, string>>>;
}

/** Changes of services whose every key is understood. */
export interface EngineWork {
  readonly parts: EngineBackendParts;
  readonly changes: Changes;
  /** Rendered, with plain dollars. */
  readonly model: ComposeModel;
  /** API version that the engine is spoken to with. */
  readonly api: string;
  /** Tells what was done, in compose's words. */
  readonly tell: (line: string) => void;
}
