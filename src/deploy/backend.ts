import type { Progress, StackKey, StackwrightError } from "../model/mod.ts";
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

/** Containers to be made and started: those of exactly the services in `scale`. */
export interface Changes extends UpArguments {
  readonly key: StackKey;
  /** Rules for replacing, by service; of every one in `scale` where the mode is `roll`. */
  readonly updates?: ReadonlyMap<string, ServiceUpdate>;
  /** Whether another stack of the engine is of the same owner: such stacks may share; none is without it. */
  readonly isOwners?: (stack: string) => boolean;
  /** Images that were built for services, by service: their names may mean others meanwhile. */
  readonly built?: Readonly<Record<string, string>>;
  /** Milliseconds for which a container has to run where no health check speaks for it; none without it. */
  readonly watchMs?: (service: string) => number;
  /** Told of each service whose new containers did not work, and what its author wants done then. */
  readonly failed?: (failure: FailedUpdate) => void;
  /** Told when all new containers work, and only old ones are left, which end by and by. */
  readonly onEnding?: () => void;
  /** The project, its rendered model and the values of its configs and secrets. */
  readonly call: ComposeCall;
  /** Milliseconds until it has to be done. */
  readonly timeoutMs: number;
  /** Told what is waited for. */
  readonly progress: Progress;
}

/** Port for whoever changes the containers of a stack. */
export interface Backend {
  /**
   * Makes and starts containers. May be called again after it was interrupted, when what was left half
   * done is cleared.
   *
   * A failed update whose author wants the rest to go on is only told to `failed`.
   *
   * Throws `deploy_failed`, `unhealthy` where one service waits for another that failed, `timeout`, and
   * what the engine throws; some containers may have been changed then.
   */
  up(changes: Changes, signal: AbortSignal): Promise<void>;
}

/** A backend that leaves everything to docker compose. */
export function composeBackend(compose: Pick<Compose, "up">): Backend {
  return { up: ({ call, ...changes }, signal) => compose.up(call, changes, signal) };
}
