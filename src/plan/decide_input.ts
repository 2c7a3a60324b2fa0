import type { ObservedStack, ReleaseService } from "../model/mod.ts";

/** Input of a decision. Values only: the same input always gives the same plan. */
export interface DecideInput {
  readonly desired: readonly ReleaseService[];
  readonly observed: ObservedStack;
  /** The services of the release that was deployed last, to say what changed since. */
  readonly previous: readonly ReleaseService[] | undefined;
  readonly policy: {
    /** Replace every container although nothing changed. */
    readonly forceRecreate: boolean;
    /** Remove containers of services that are no longer in the model. */
    readonly removeOrphans: boolean;
  };
  /** Services whose containers a person asked to have replaced. */
  readonly asked?: readonly string[];
  /**
   * The services of a release that failed and is taken back: containers of those that it added go,
   * whatever the policy says about orphans.
   */
  readonly takenBack?: readonly ReleaseService[];
  /**
   * Image each service would run if it were replaced now, by service; only of services whose image
   * may move under the same name.
   */
  readonly images: Readonly<Record<string, string>>;
  /**
   * Images that the release which is deployed ran: no container tells which one its hook ran or which
   * one is mounted in it.
   */
  readonly ran?: Readonly<Record<string, string>>;
}
