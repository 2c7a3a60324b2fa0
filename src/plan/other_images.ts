import { fewOf, own } from "../model/mod.ts";

/** Names services that now run another image than the release did, since that one is gone. */
export function otherImages(
  wanted: { readonly images: Readonly<Record<string, string>> },
  now: Readonly<Record<string, string>>,
): string {
  const others = Object.keys(now).filter((name) =>
    own(wanted.images, name) !== undefined && wanted.images[name] !== now[name]
  );
  if (others.length === 0) return "";
  return `; ${fewOf(others.sort())} runs another image than then: that one is not on the ` +
    "engine any more, see RELEASE_IMAGE_RETENTION";
}
