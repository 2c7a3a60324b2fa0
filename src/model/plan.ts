/** Actions on one service. */
export type ServiceAction =
  | "keep"
  | "create"
  | "recreate"
  /** Its files change in place; it is told so by a signal if it asked for one. */
  | "reload"
  | "scale"
  | "start"
  | "remove";

/** One decision, with everything that led to it. */
export interface ServicePlan {
  readonly name: string;
  readonly action: ServiceAction;
  /** Sentences for people; never empty. */
  readonly because: readonly string[];
}

/**
 * The reason why a target was skipped. A pause reason starts with `paused` and continues as a
 * sentence for people, which is why the type is open there and nowhere else.
 */
export type SkipReason =
  | "no_changes"
  | "filter_mismatch"
  | "superseded"
  | "nothing_to_destroy"
  | "delay"
  | "budget_exhausted"
  | "sync_window"
  /** Of decisions alone: no configuration names it any more, and it is kept. */
  | "unnamed"
  | `paused${string}`;

/** A plan for one deployment, as a value: it can be shown, stored and compared. */
export type Plan =
  | {
    readonly kind: "skip";
    readonly reason: SkipReason;
    readonly message: string;
    readonly services: readonly ServicePlan[];
  }
  | { readonly kind: "deploy"; readonly message: string; readonly services: readonly ServicePlan[] }
  | {
    readonly kind: "destroy";
    readonly message: string;
    readonly services: readonly ServicePlan[];
  };
