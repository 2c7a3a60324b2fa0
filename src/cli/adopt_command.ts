import { formatOwner } from "../model/mod.ts";
import { readArguments, stackOf } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { withOperations } from "./with_operations.ts";

/** `stackwright adopt` */
export const adoptCommand: Command = {
  help: `Usage: stackwright adopt [--json] [--context NAME] [--source REPOSITORY]
                         [--reference BRANCH] <stack>

A stack belongs to the repository, and the branch, that deployed it. Another one with the same stack
name is refused, until this command hands the stack to it; its next deployment then takes it over.
Without --source it is the one that was refused. Whose it was before is refused from then on.

Exits 0 when it is handed over, 1 when --source is missing and nobody, or several, were refused.
`,
  async run(io) {
    const args = readArguments(io.args, 1, ["context", "source", "reference"]);
    const key = stackOf(args);
    const { source = "", reference = "" } = args.values;
    return await withOperations(io, async ({ operations, call }) => {
      const input = { ...key, source, reference };
      const { owner, before } = await operations.adopt.call(input, call);
      const [is, was] = [formatOwner(owner), before && formatOwner(before)];
      const past = was === undefined ? "" : `, no longer to ${was}`;
      const text = `${key.name} belongs to ${is === was ? `${is} already` : `${is} now${past}`}`;
      const shown = { owner, ...(before === undefined ? {} : { before }) };
      io.out(args.json ? JSON.stringify(shown) + "\n" : `${text}\n`);
      return EXIT.ok;
    });
  },
};
