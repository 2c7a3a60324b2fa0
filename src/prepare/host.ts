import type { Backend, Compose } from "../deploy/mod.ts";
import type { ContainerDetails, Engine, EngineInfo } from "../docker/engine.ts";
import type { Limiter } from "../system/mod.ts";
import type { Images } from "./images.ts";

/**
 * One engine, and what this process knows of the machine behind it. A second engine is a second host
 * and nothing else.
 */
export interface Host {
  readonly engine: Engine;
  /** The engine as it introduced itself; asked again after it was unreachable. */
  info(signal: AbortSignal): Promise<EngineInfo>;
  /** The compose program, which renders and builds for this engine. */
  readonly compose: Compose;
  /** Who makes and starts containers there. */
  readonly backend: Backend;
  readonly images: Images;
  /**
   * Bounds what changes containers there, where that is not what bounds the default context: work that
   * waits for its engine must not keep those of others waiting.
   */
  readonly deploying?: Limiter;
  /**
   * Whether that machine may see the files of this one. Where it does not, only what goes through the
   * engine gets there.
   */
  readonly sharesFiles: boolean;
  /** Whether files are copied to that machine, where it does not see ours (`REMOTE_FILES=volume`). */
  readonly copiesFiles: boolean;
  /** The data directory as that machine sees it. */
  readonly dataDir: string;
  /** The socket that the engine is reached by, where it is one of this machine. */
  readonly socket?: string;
  /** The container that this process runs in, where it is one of this engine. */
  own(signal: AbortSignal): Promise<ContainerDetails | undefined>;
  /** Where this process sees a path of that machine; `undefined` where it does not. */
  localPath(hostPath: string, signal: AbortSignal): Promise<string | undefined>;
}

/** The hosts of all contexts. */
export interface Hosts {
  /**
   * The host of a context; made when it is first asked for. Throws `bad_request` for a context that is
   * not there, `settings_invalid` for one that cannot be used, and what its engine throws.
   */
  of(context: string, signal: AbortSignal): Promise<Host>;
}
