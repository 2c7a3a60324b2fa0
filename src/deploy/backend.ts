import type { Progress, StackKey } from "../model/mod.ts";
import type { Compose, ComposeCall } from "./compose/program.ts";
import type { UpArguments } from "./compose/command.ts";

/** Containers to be made and started: those of exactly the services in `scale`. */
export interface Changes extends UpArguments {
  readonly key: StackKey;
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
   * Throws `deploy_failed`, `unhealthy` where one service waits for another that failed, `timeout`, and
   * what the engine throws; some containers may have been changed then.
   */
  up(changes: Changes, signal: AbortSignal): Promise<void>;
}

/** A backend that leaves everything to docker compose. */
export function composeBackend(compose: Pick<Compose, "up">): Backend {
  return { up: ({ call, ...changes }, signal) => compose.up(call, changes, signal) };
}
