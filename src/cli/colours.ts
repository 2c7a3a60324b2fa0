import { visible } from "../system/visible.ts";
import type { CommandIo } from "./io.ts";

const CODES = { added: "32", removed: "31", place: "36", head: "1" } as const;
const RESET = "\u001b[0m";

/** The lines of a unified diff in the usual colours, where its reader sees colours. */
export function colouredDiff(
  diff: string,
  { colours = false }: Pick<CommandIo, "colours">,
): string {
  if (!colours) return diff;
  return diff.split("\n").map((line) => {
    const kind = kindOf(line);
    return kind === undefined ? line : `\u001b[${CODES[kind]}m${line}${RESET}`;
  }).join("\n");
}

/** Lines that are coloured as a whole stay so; whatever else steers a terminal is shown. */
export function visibleLines(text: string): string {
  return text.split("\n").map((line) => {
    const end = line.length - RESET.length;
    const start = Object.values(CODES).map((code) => `\u001b[${code}m`)
      .find((each) => line.startsWith(each) && line.endsWith(RESET) && each.length <= end);
    if (start === undefined) return visible(line);
    return start + visible(line.slice(start.length, end)) + RESET;
  }).join("\n");
}

function kindOf(line: string): keyof typeof CODES | undefined {
  if (line.startsWith("+++ ") || line.startsWith("--- ")) return "head";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return line.startsWith("@@") ? "place" : undefined;
}

/**
 * True when colours reach a person: on a terminal that knows them, and unless `NO_COLOR` is set.
 */
export function seesColours(
  isTerminal: boolean,
  env: Readonly<Record<string, string | undefined>>,
): boolean {
  return isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}
