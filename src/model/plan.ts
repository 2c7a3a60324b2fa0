/** Actions on one service. */
export type ServiceAction =
  | "keep"
  | "create"
  | "recreate"
  /** Files change in place; the service gets a signal if it asked for one. */
  | "reload"
  | "scale"
  | "start"
  | "remove";

/** The action on one service, with the reasons. */
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
  /** For decisions only: no configuration names the stack any more, and it is kept. */
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
