import { type ComposeModel, LABELS, recordOf } from "../model/mod.ts";

/** The names, or their templates, of volumes that were there without Stackwright's labels, or may have been. */
export function takenVolumes(model: ComposeModel): string[] {
  return Object.entries(recordOf(model["volumes"])).flatMap(([key, value]) => {
    const { name, external, labels } = recordOf(value);
    const known = typeof name === "string" && name !== "" ? name : key;
    // Whether those that a template in the name stands for were there is recorded nowhere.
    const isTaken = external !== true &&
      (known.includes("{{") || recordOf(labels)[LABELS.manager] === undefined);
    return isTaken ? [known] : [];
  });
}
