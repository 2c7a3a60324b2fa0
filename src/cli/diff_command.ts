import { createTwoFilesPatch } from "diff";
import { releaseModels } from "../app.ts";
import { StackwrightError } from "../model/mod.ts";
import { readArguments, releaseNumber, stackOf } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { withAssembly } from "./with_assembly.ts";

/** `stackwright diff` */
export const diffCommand: Command = {
  help: `Usage: stackwright diff [--json] [--context NAME] <stack> <A> <B>

A and B are numbers of stackwright history. Prints a unified diff of the models that compose got;
values that sound secret are shown as a digest. Exits 0 when they are equal, 2 when they differ.
`,
  async run(io) {
    const args = readArguments(io.args, 3, ["context"]);
    const key = stackOf(args);
    const [, a, b] = args.operands;
    if (a === undefined || b === undefined) {
      throw new StackwrightError("bad_request", "two release numbers are needed; see --help");
    }
    return await withAssembly(io, async ({ assembly }) => {
      const numbers = [releaseNumber(a), releaseNumber(b)] as const;
      const [before, after] = await releaseModels(assembly, key, numbers, io.signal);
      const diff = unifiedDiff(`release ${a}`, `release ${b}`, before, after);
      io.out(args.json ? JSON.stringify({ equal: diff === "", diff }) + "\n" : diff);
      return diff === "" ? EXIT.ok : EXIT.changes;
    });
  },
};

/** A unified diff of two texts; empty when they are equal. */
export function unifiedDiff(from: string, to: string, before: string, after: string): string {
  if (before === after) return "";
  return createTwoFilesPatch(from, to, before, after, undefined, undefined, { context: 3 })
    .replace(/^=+\n/, "");
}
