import { readArguments, stackOf } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { withOperations } from "./with_operations.ts";

/** `stackwright forget` */
export const forgetCommand: Command = {
  help: `Usage: stackwright forget [--json] --context NAME <stack>

Forgets a stack whose context is not there any more (docker context rm), so that no engine can be
asked to remove it. What runs there is left alone, and so is what lies in DATA_DIR for it; explain
and history still know it.

Exits 0 when it is forgotten, 1 when its context is there, or nothing is recorded about it.
`,
  async run(io) {
    const args = readArguments(io.args, 1, ["context"]);
    const key = stackOf(args);
    return await withOperations(io, async ({ operations, call }) => {
      const shown = await operations.forget.call(key, call);
      const text = `${key.name} on ${key.context} is forgotten; what runs there was left alone`;
      io.out(args.json ? JSON.stringify(shown) + "\n" : `${text}\n`);
      return EXIT.ok;
    });
  },
};
