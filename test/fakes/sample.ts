import process from "node:process";
import { it } from "node:test";

/** Whether a part of each sweep is enough: `./scripts/test` without `all`. */
export const isSample = process.env["SWEEP"] === "sample";

/** All of `cases`; of a sweep that is a sample, one in `every`, the first one among them. */
export function sampleOf<Case>(cases: readonly Case[], every: number): readonly Case[] {
  return isSample ? cases.filter((_, index) => index % every === 0) : cases;
}

/** A test that is not in a sample: it is long, and another one shows the same of less. */
export const itAtLength = isSample ? it.skip : it;
