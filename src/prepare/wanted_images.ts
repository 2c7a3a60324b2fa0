import type { ComposeCall } from "../deploy/mod.ts";
import type { Progress, ReleaseService, StackKey } from "../model/mod.ts";

/** Services of one stack whose images the engine must have. */
export interface WantedImages {
  readonly key: StackKey;
  readonly services: readonly Pick<ReleaseService, "name" | "image">[];
  readonly call: ComposeCall;
  /** Seconds that the deployment may take. */
  readonly timeoutSeconds: number;
  readonly progress: Progress;
}
