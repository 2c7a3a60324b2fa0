/**
 * The gate's check of sizes: reports every function and file under src/ that is longer than they may
 * be, every room that has too many files, and all that reads files of any size. Run it as `deno task sizes`; it exits 1 when it found
 * something.
 */
import { dirname } from "node:path/posix";
import { scanFunctions } from "./lib/function_scanner.ts";
import { reportOn, type Sources, type Violation } from "./lib/gate.ts";

/** Lines that a function may have, its parameters and its closing brace with it. */
export const LINES_OF_FUNCTION = 60;

/** Lines that a file may have: as many as the longest had when this became a rule. */
export const LINES_OF_FILE = 318;

/** Most files of folders that once grew without order. */
export const FILES_OF_FOLDER: Readonly<Record<string, number>> = { "src/pipeline": 26 };

/** Checks `main.ts` and everything under `src/`; returns what is too large, in order of files. */
export function checkSizes(sources: Sources): Violation[] {
  const large = [...sources].flatMap(([file, text]) => [
    ...longFile(file, text),
    ...longFunctions(file, text),
    ...unboundedReads(file, text),
  ]);
  return [...large, ...fullFolders(sources)];
}

function longFile(file: string, text: string): Violation[] {
  const lines = text.trimEnd().split("\n").length;
  if (lines <= LINES_OF_FILE) return [];
  const rule = `has ${lines} lines, and may have ${LINES_OF_FILE}: take one thing of it out`;
  return [{ file, line: LINES_OF_FILE + 1, rule }];
}

function longFunctions(file: string, text: string): Violation[] {
  const long = scanFunctions(text).filter(({ lines }) => lines > LINES_OF_FUNCTION);
  return long.map(({ name, line, lines }) => {
    const rule = `${name} has ${lines} lines, and may have ${LINES_OF_FUNCTION}: name parts of it`;
    return { file, line, rule };
  });
}

/** What the runtimes have to read a whole file into memory. */
const WHOLE =
  /\breadFileSync\b|\b(?:Deno|Bun|fs|fsp|\w*[hH]andle)\.(?:file|readFile|readTextFile)\w*\b|^import\b[^;"]*\breadFile\b[^;"]*"node:fs[^;]*/gm;

function unboundedReads(file: string, text: string): Violation[] {
  return [...text.matchAll(WHOLE)].map(({ index }) => {
    const rule = "reads a file of any size into memory: name a limit (`readText`, `readAll`)";
    return { file, line: text.slice(0, index).split("\n").length, rule };
  });
}

function fullFolders(sources: Sources): Violation[] {
  return Object.entries(FILES_OF_FOLDER).flatMap(([folder, most]) => {
    const count = [...sources.keys()].filter((file) => dirname(file) === folder).length;
    if (count <= most) return [];
    const rule = `has ${count} files, and may have ${most}: what is new belongs to another room`;
    return [{ file: folder, line: 1, rule }];
  });
}

if (import.meta.main) reportOn("sizes", checkSizes);
