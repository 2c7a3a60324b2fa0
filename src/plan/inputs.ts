import type { InputClosure } from "../model/mod.ts";

/**
 * What differs between the closure a release was made from and what is there now: empty when
 * nothing does, and then the release is still what the source asks for, without rendering it again.
 */
export function changedInputs(
  deployed: InputClosure,
  now: { readonly configuration: string; readonly paths: Readonly<Record<string, string>> },
): string[] {
  if (!deployed.complete) return ["the compose files read more than can be followed"];
  const configuration = deployed.configuration === now.configuration ? [] : ["the configuration"];
  const paths = Object.keys(deployed.paths).filter((path) =>
    deployed.paths[path] !== now.paths[path]
  );
  return [...configuration, ...paths.sort()];
}
