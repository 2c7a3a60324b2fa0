import { join } from "node:path";
import { MOST_BYTES, validateCompose } from "../config/mod.ts";
import { formatProblem } from "../model/mod.ts";
import { checkSchedule } from "../plan/mod.ts";
import { type Files, readText } from "../system/mod.ts";

/** What is to be found in the compose files of a target. */
interface Sought {
  /** Directory with the files. */
  readonly tree: string;
  readonly composeFiles: readonly string[];
  readonly service: string;
  readonly now: Date;
}

/**
 * What is wrong with the labels of a job, with the file and line of it; `undefined` where the files, which may
 * be encrypted, or have variables there, do not tell.
 */
export async function jobPlace(
  files: Pick<Files, "readIfExists">,
  { tree, composeFiles, service, now }: Sought,
): Promise<string | undefined> {
  for (const file of composeFiles) {
    const text = await readText(files, join(tree, file), MOST_BYTES).catch(() => undefined);
    if (text === undefined) continue;
    const checks = { checkSchedule: (schedule: string) => checkSchedule(schedule, { now }) };
    const found = validateCompose(text, { file, base: "." }, checks).problems
      .find(({ path, line }) => path === `services.${service}.labels` && line !== undefined);
    if (found !== undefined) return formatProblem(found);
  }
  return undefined;
}
