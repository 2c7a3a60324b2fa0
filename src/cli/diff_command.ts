import { errors } from "../model/mod.ts";
import { readArguments, releaseNumber, stackOf } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { withOperations, type Workbench } from "./with_operations.ts";

/** `stackwright diff` */
export const diffCommand: Command = {
  help: `Usage: stackwright diff [--json] [--context NAME] <stack> <A> <B>

A and B are numbers of stackwright history. Prints a unified diff of what was written: the
models without what Stackwright and compose add, and beside them files, images, build arguments
and replicas; values that sound secret are shown as a digest. Exits 0 when they are equal, 2 when
they differ, 1 when one of them is not recorded.
`,
  async run(io) {
    const args = readArguments(io.args, 3, ["context"]);
    const key = stackOf(args);
    const [, a, b] = args.operands;
    if (a === undefined || b === undefined) {
      throw errors.bad_request("two release numbers are needed; see --help");
    }
    const input = { ...key, from: releaseNumber(a), to: releaseNumber(b) };
    return await withOperations(io, async (bench) => {
      const diff = await wholeDiff(bench, input);
      io.out(args.json ? JSON.stringify({ equal: diff === "", diff }) + "\n" : diff);
      return diff === "" ? EXIT.ok : EXIT.changes;
    }, { onlyReads: true });
  },
};

/** Every page of the diff, one after the other. */
async function wholeDiff(
  { operations, call }: Workbench,
  input: Readonly<Record<string, unknown>>,
): Promise<string> {
  let diff = "";
  let after: number | undefined;
  for (;;) {
    const page = await operations.diffReleases.call({ ...input, limit: PAGE_LINES, after }, call);
    diff += page.diff;
    if (page.next === undefined) return diff;
    after = page.next;
  }
}

const PAGE_LINES = 5000;
