import type { SkipReason } from "./run.ts";

/** What will be done to one service. */
export type ServiceAction = "keep" | "create" | "recreate" | "scale" | "start" | "remove";

/** One decision, with everything that led to it. */
export interface ServicePlan {
  readonly name: string;
  readonly action: ServiceAction;
  /** Sentences for people; never empty. */
  readonly because: readonly string[];
}

/** What to do about one deployment, as a value: it can be shown, stored and compared. */
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
