import type { ObservedStack, Plan, ReleaseService } from "../model/mod.ts";
import { decide } from "./decide.ts";

/** Services of the release that was deployed last, to say what changed since; absent before it. */
type Deployed = readonly ReleaseService[] | undefined;

/** Images that services would run if they were replaced now, by service, where names may have moved. */
type Images = Readonly<Record<string, string>>;

/** Purposes of a plan: each settles what a release is compared with and what it may remove. */
export type Why =
  /** A source wants it. */
  | {
    readonly kind: "wanted";
    readonly deployed: Deployed;
    readonly policy: { readonly forceRecreate: boolean; readonly removeOrphans: boolean };
    readonly images?: Images;
    /** What the release that is deployed ran. */
    readonly ran?: Images;
  }
  /** It is deployed, and what is missing of it comes back: nothing is removed beyond that. */
  | { readonly kind: "repaired" }
  /** A person wants containers of these services made anew, from what is deployed. */
  | { readonly kind: "recreated"; readonly asked: readonly string[] }
  /** A process ended while it was rolled out, which was to remove orphans or not. */
  | { readonly kind: "resumed"; readonly deployed: Deployed; readonly removeOrphans: boolean }
  /** A person puts it back in the place of a later one. */
  | {
    readonly kind: "put_back";
    readonly deployed: Deployed;
    readonly images: Images;
    readonly ran: Images;
  }
  /** Another one failed: what that one added goes, whatever the policy says about orphans. */
  | {
    readonly kind: "taken_back";
    readonly failed: readonly ReleaseService[];
    readonly removeOrphans: boolean;
    /** What the one that comes back ran: a name may have moved without another digest. */
    readonly images?: Images;
    /** What the one that failed ran. */
    readonly ran?: Images;
  };

/** Plans how to get from what runs to the services of a release. */
export function planFor(
  desired: readonly ReleaseService[],
  observed: ObservedStack,
  why: Why,
): Plan {
  const common = { desired, observed, images: {} };
  const leaving = { forceRecreate: false, removeOrphans: false };
  switch (why.kind) {
    case "wanted": {
      const { deployed: previous, policy, images = {}, ran = {} } = why;
      return decide({ ...common, previous, policy, images, ran });
    }
    case "repaired":
      return decide({ ...common, previous: desired, policy: leaving });
    case "recreated":
      return decide({ ...common, previous: desired, policy: leaving, asked: why.asked });
    case "resumed": {
      const policy = { forceRecreate: false, removeOrphans: why.removeOrphans };
      return decide({ ...common, previous: why.deployed ?? desired, policy });
    }
    case "put_back": {
      const policy = { forceRecreate: false, removeOrphans: true };
      const { deployed: previous, images, ran } = why;
      return decide({ ...common, previous, policy, images, ran });
    }
    case "taken_back": {
      const { failed, removeOrphans, images = {}, ran = {} } = why;
      const policy = { forceRecreate: false, removeOrphans };
      return decide({ ...common, images, ran, previous: failed, takenBack: failed, policy });
    }
  }
}
