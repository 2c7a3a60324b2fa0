import { serviceOf, textAt } from "./model.ts";
import { errors, fewOf, type Release, type ReleaseService } from "../model/mod.ts";

/** Whether `pull_policy: always` pulls an image whenever its release is prepared. */
export function pullsAlways({ model }: Pick<Release, "model">, name: string): boolean {
  return policyOf(model, name) === "always";
}

/** Whether a service's image must exist already: `pull_policy: never`. */
export function pullsNever({ model }: Pick<Release, "model">, name: string): boolean {
  return policyOf(model, name) === "never";
}

/** Throws `pull_failed` for services among `missing` whose images must not be pulled. */
export function requirePullable(
  release: Pick<Release, "model" | "key">,
  missing: readonly Pick<ReleaseService, "name" | "image">[],
): void {
  const refused = missing.filter((each) => pullsNever(release, each.name));
  if (refused.length === 0) return;
  const images = [...Map.groupBy(refused, ({ image }) => image)].map(([image, those]) =>
    `${image} of service${those.length === 1 ? "" : "s"} ${fewOf(those.map(({ name }) => name))}`
  ).join(", ");
  throw errors.pull_failed(
    `${release.key.name} needs ${images}, not on this engine, and pull_policy: never forbids to ` +
      "fetch it; load or build the image here, or take pull_policy away. Nothing was changed",
  );
}

function policyOf(model: Release["model"], name: string): string {
  return textAt(serviceOf(model, name), "pull_policy");
}
