import type { ObservedStack, ReleaseService } from "../model/mod.ts";

/** Input of a decision. Values only: the same input always gives the same plan. */
export interface DecideInput {
  readonly desired: readonly ReleaseService[];
  /** Services of the compose files whose profiles are not active. */
  readonly inactive?: readonly string[];
  readonly observed: ObservedStack;
  /** The services of the release that was deployed last, for telling what changed since. */
  readonly previous: readonly ReleaseService[] | undefined;
  readonly policy: {
    /** Reason to replace every container, also of the same digest. */
    readonly forced?: string | undefined;
    /** Remove containers of services that are no longer in the model. */
    readonly removeOrphans: boolean;
  };
  /** Services that ran before a deployment which came to no end: it may have stopped some. */
  readonly ranBefore?: readonly string[];
  /** Services whose containers a person asked to have replaced. */
  readonly asked?: readonly string[];
  /**
   * The services of a failed release that is rolled back: containers of services that it added are
   * removed, whatever the policy says about orphans.
   */
  readonly takenBack?: readonly ReleaseService[];
  /** The services of a good release that a person rolls back; as {@link DecideInput.takenBack}. */
  readonly undone?: readonly ReleaseService[];
  /** Image that each service would run if it were replaced now; only where a name may lead to another one. */
  readonly images: Readonly<Record<string, string>>;
  /** Images that the deployed release ran: containers do not show those of hooks and of mounts. */
  readonly ran?: Readonly<Record<string, string>>;
}
