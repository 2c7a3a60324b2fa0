import type { InputChange, InputClosure } from "../model/mod.ts";

/** Stands for an input that was not there. */
const ABSENT = "absent";

/**
 * What differs between the closure a release was made from and what is there now: empty when
 * nothing does, and then the release is still what the source asks for, without rendering it again.
 * Only meaningful for a closure that is complete.
 */
export function changedInputs(
  deployed: InputClosure,
  now: { readonly configuration: string; readonly paths: Readonly<Record<string, string>> },
): InputChange[] {
  const configuration = deployed.configuration === now.configuration
    ? []
    : [{ input: "configuration", from: deployed.configuration, to: now.configuration }];
  const paths = Object.keys(deployed.paths).sort().map((input) => ({
    input,
    from: deployed.paths[input] ?? ABSENT,
    to: now.paths[input] ?? ABSENT,
  }));
  return [...configuration, ...paths.filter((each) => each.from !== each.to)];
}
