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
  /** Whether changes are logged at `debug` instead of `info`. */
  readonly quiet: boolean;
  /** Carries out steps with keys that we do not map. */
  readonly compose: Pick<Compose, "up" | "knownVersion">;
  /** Variables that every container gets, as for proxies; its own win. */
  readonly variables: () => Promise<Readonly<Record<string, string>>>;
}

/** Changes of services that have mapped keys only. */
export interface EngineWork {
  readonly parts: EngineBackendParts;
  readonly changes: Changes;
  /** Rendered, with plain dollars. */
  readonly model: ComposeModel;
  /** Negotiated API version of the engine. */
  readonly api: string;
  /** Logs what was done, in compose's words. */
  readonly tell: (line: string) => void;
}
