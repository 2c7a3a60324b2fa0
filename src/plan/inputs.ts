import type { InputChange, InputClosure } from "../model/mod.ts";

/** Stands for an input that did not exist. */
const ABSENT = "absent";

/**
 * Differences between the inputs of a release and the inputs now. Empty means that the release is still
 * what the source asks for, without rendering it again. Only meaningful for a complete closure.
 */
export function changedInputs(
  deployed: InputClosure,
  now: Pick<InputClosure, "configuration" | "paths" | "configurationPaths">,
): InputChange[] {
  const configuration = deployed.configuration === now.configuration
    ? []
    : [{ input: "configuration", from: deployed.configuration, to: now.configuration }];
  const elsewhere = changedPaths(deployed.configurationPaths ?? {}, now.configurationPaths ?? {});
  return [
    ...configuration,
    ...elsewhere.map((each) => ({ ...each, input: `${each.input} beside the configuration` })),
    ...changedPaths(deployed.paths, now.paths),
  ];
}

function changedPaths(deployed: InputClosure["paths"], now: InputClosure["paths"]): InputChange[] {
  return Object.keys(deployed).sort().map((input) => ({
    input,
    from: deployed[input] ?? ABSENT,
    to: now[input] ?? ABSENT,
  })).filter((each) => each.from !== each.to);
}
