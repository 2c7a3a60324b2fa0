import type { ObservedStack, Progress, StackKey, StackwrightError } from "../model/mod.ts";
import type { Compose } from "./compose/program.ts";
import type { ComposeCall } from "./compose/compose_parts.ts";
import type { UpArguments } from "./compose/command.ts";
import type { FailureAction, ServiceUpdate } from "./update/update_config.ts";

/** An update of one service that failed. */
export interface FailedUpdate {
  readonly service: string;
  readonly error: StackwrightError;
  readonly action: FailureAction | undefined;
}

/** Services whose containers docker compose starts, with the key of the model that it is needed for. */
export interface ComposeStarts {
  readonly services: readonly string[];
  readonly because: string;
}

/** Containers to make and start, for exactly the services in `scale`. */
export interface Changes extends UpArguments {
  readonly key: StackKey;
  /** What there is of the stack, where nothing of it was changed since this work looked; else it looks. */
  readonly observed?: ObservedStack;
  /** Update rules by service; has every service in `scale` when the mode is `roll`. */
  readonly updates?: ReadonlyMap<string, ServiceUpdate>;
  /** Refuses, by throwing, what today's rules refuse; asked right before containers are made. */
  readonly requireAllowed?: (signal: AbortSignal, starts?: ComposeStarts) => Promise<void>;
  /** Ids of images by the names of `NamedImage`: the images' own names may lead elsewhere meanwhile. */
  readonly built?: Readonly<Record<string, string>>;
  /** Milliseconds that a container without a health check must run; none by default. */
  readonly watchMs?: (service: string) => number;
  /** Called for each service whose new containers failed, with the author's `failure_action`. */
  readonly failed?: (failure: FailedUpdate) => void;
  /** Called when all new containers are healthy and only old ones remain to be stopped. */
  readonly onEnding?: () => void;
  /** The project, its rendered model and the values of its configs and secrets. */
  readonly call: ComposeCall;
  /** Milliseconds until everything must be done. */
  readonly timeoutMs: number;
  readonly progress: Progress;
}

/** Port that changes the containers of a stack. */
export interface Backend {
  /**
   * Makes and starts containers; again after an interruption, once half-replaced ones are cleared.
   *
   * An update that failed with `failure_action: continue` is only reported to `failed`.
   *
   * Throws `deploy_failed`, `unhealthy` where one service waits for another that failed, `timeout`,
   * and what the engine throws; some containers may have been changed then.
   */
  up(changes: Changes, signal: AbortSignal): Promise<void>;
}

/** A backend that leaves everything to docker compose. */
export function composeBackend(compose: Pick<Compose, "up">): Backend {
  return { up: ({ call, ...changes }, signal) => compose.up(call, changes, signal) };
}
