/** What the checks of the gate that read all of src/ share. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path/posix";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** Paths from the repository's root, with `/`, and the text of each. */
export type Sources = ReadonlyMap<string, string>;

/** One broken rule. */
export interface Violation {
  readonly file: string;
  /** Line in the file, from 1. */
  readonly line: number;
  readonly rule: string;
}

/**
 * Runs a check on `main.ts` and everything under `src/`, and prints what breaks a rule; the process ends
 * with 1 when something does.
 */
export function reportOn(what: string, check: (sources: Sources) => Violation[]): void {
  const sources = readSources(fileURLToPath(new URL("../..", import.meta.url)));
  const violations = check(sources);
  for (const { file, line, rule } of violations) process.stderr.write(`${file}:${line} ${rule}\n`);
  const verdict = violations.length === 0 ? "as they have to be" : `${violations.length} broken`;
  process.stdout.write(`${what} of ${sources.size} files: ${verdict}\n`);
  if (violations.length > 0) process.exitCode = 1;
}

function readSources(root: string): Sources {
  const names = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => `src/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".ts"))
    .sort();
  const files = ["main.ts", ...names].filter((name) => existsSync(join(root, name)));
  return new Map(files.map((name) => [name, readFileSync(join(root, name), "utf8")]));
}
