import type { Backend, Compose } from "../deploy/mod.ts";
import type { Engine, EngineInfo } from "../docker/engine.ts";
import type { OwnContainer } from "../docker/own_container.ts";
import type { EngineSlots } from "../system/mod.ts";
import type { Images } from "./images.ts";

/** One engine, with this process's view of its machine. Every engine is a separate host. */
export interface Host {
  readonly engine: Engine;
  /** The engine's report about itself; requested again after a while, after it was unreachable, and where `anew`. */
  info(signal: AbortSignal, how?: { readonly anew?: boolean }): Promise<EngineInfo>;
  /** Compose, which renders and builds for this engine. */
  readonly compose: Compose;
  /** What makes and starts containers through `engine`: the host's, or one that asks before each change. */
  backend(engine: Engine): Backend;
  readonly images: Images;
  /** The slots for work on this engine; absent for the default context, which has the pipeline's. */
  readonly slots?: EngineSlots;
  /** Whether the engine may see this machine's files; else it gets only what its API is sent. */
  readonly sharesFiles: boolean;
  /**
   * Whether the engine runs on this machine, so that a path of its host may be one of ours: also when
   * it is reached in another way, but is the engine of the default context, by its id. Throws what
   * the engine throws.
   */
  isHere(signal: AbortSignal): Promise<boolean>;
  /** Whether files are copied to an engine that does not see ours (`REMOTE_FILES=volume`). */
  readonly copiesFiles: boolean;
  /** The data directory as the engine's machine sees it. */
  readonly dataDir: string;
  /** The local socket of the engine, if it has one. */
  readonly socket?: string;
  /** The container of this process, if this engine runs it. */
  own(signal: AbortSignal): Promise<OwnContainer | undefined>;
  /** This process's path for a path of the engine's machine; `undefined` without one. */
  localPath(hostPath: string, signal: AbortSignal): Promise<string | undefined>;
}

/** The hosts of all contexts. */
export interface Hosts {
  /**
   * The host of a context, made on first use. Throws `bad_request` for an unknown context,
   * `settings_invalid` for one that cannot be used, and what its engine throws.
   */
  of(context: string, signal: AbortSignal): Promise<Host>;
  /** Whether a context exists, even if it cannot be used; no engine is asked. */
  has(context: string): Promise<boolean>;
}
