import type { ObservedStack, Plan, Release, ReleaseService } from "../model/mod.ts";
import { decide } from "./decide.ts";
import type { DecideInput } from "./decide_input.ts";

/** Services of the release that was deployed last, to tell changes; absent before it. */
type Deployed = readonly ReleaseService[] | undefined;

/** Images by service or side image: those run now, or those that a replacement would run. */
type Images = Readonly<Record<string, string>>;

/** Purposes of a plan; they decide what a release is compared with and what may be removed. */
export type Why =
  /** The source wants the release. */
  | {
    readonly kind: "wanted";
    readonly deployed: Deployed;
    readonly policy: DecideInput["policy"];
    readonly images?: Images;
    /** Images that the deployed release ran. */
    readonly ran?: Images;
    readonly ranBefore?: DecideInput["ranBefore"];
  }
  /** The deployed release: missing parts come back, and nothing is removed. */
  | { readonly kind: "repaired" }
  /** The deployed release, with containers of the `asked` services recreated for a person. */
  | { readonly kind: "recreated"; readonly asked: readonly string[] }
  /** The release of an interrupted rollout, which was to remove orphans or not, or what the `undone` one added. */
  | {
    readonly kind: "resumed";
    readonly deployed: Deployed;
    readonly removeOrphans: boolean;
    readonly undone?: Deployed;
  }
  /** An earlier release that a person rolls back to: what the deployed one added goes, whatever the policy is. */
  | {
    readonly kind: "put_back";
    readonly deployed: Deployed;
    readonly removeOrphans: boolean;
    readonly images: Images;
    readonly ran: Images;
  }
  /** The release before a failed one: what the failed one added goes, whatever the policy is. */
  | {
    readonly kind: "taken_back";
    readonly failed: readonly ReleaseService[];
    readonly removeOrphans: boolean;
    /** Images that this release ran: a tag may have moved without a new digest. */
    readonly images?: Images;
    /** Images that the failed release ran. */
    readonly ran?: Images;
  };

/** Plans how to get from what runs to the services of a release. */
export function planFor(
  { services: desired, inactive = [] }: Pick<Release, "services" | "inactive">,
  observed: ObservedStack,
  why: Why,
): Plan {
  const common = { desired, inactive, observed, images: {} };
  const leaving = { removeOrphans: false };
  switch (why.kind) {
    case "wanted": {
      const { deployed: previous, policy, images = {}, ran = {}, ranBefore = [] } = why;
      return decide({ ...common, previous, policy, images, ran, ranBefore });
    }
    case "repaired":
      return decide({ ...common, previous: desired, policy: leaving });
    case "recreated":
      return decide({ ...common, previous: desired, policy: leaving, asked: why.asked });
    case "resumed": {
      const policy = { removeOrphans: why.removeOrphans };
      const { deployed = desired, undone = [] } = why;
      return decide({ ...common, previous: deployed, undone, policy });
    }
    case "put_back": {
      const { deployed: previous, removeOrphans, images, ran } = why;
      const policy = { removeOrphans };
      return decide({ ...common, previous, undone: previous ?? [], policy, images, ran });
    }
    case "taken_back": {
      const { failed, removeOrphans, images = {}, ran = {} } = why;
      const policy = { removeOrphans };
      return decide({ ...common, images, ran, previous: failed, takenBack: failed, policy });
    }
  }
}
