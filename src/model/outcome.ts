import type { StackwrightError } from "./error.ts";
import type { RunTarget, SkipReason } from "./run.ts";

/** How one target ended. */
export type Outcome =
  | { readonly status: "succeeded"; readonly target: RunTarget }
  | { readonly status: "skipped"; readonly target: RunTarget; readonly reason: SkipReason }
  | { readonly status: "failed"; readonly target: RunTarget; readonly error: StackwrightError };
