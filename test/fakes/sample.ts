import process from "node:process";

/** Whether a part of each sweep is enough: `./scripts/test` without `all`, and a repetition on Bun. */
export const isSample = process.env["SWEEP"] === "sample" || "Bun" in globalThis;

/** All of `cases`; of a sweep that is a sample, one in `every`, the first one among them. */
export function sampleOf<Case>(cases: readonly Case[], every: number): readonly Case[] {
  return isSample ? cases.filter((_, index) => index % every === 0) : cases;
}
