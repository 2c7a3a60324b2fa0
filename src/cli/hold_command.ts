import { formatStackArguments } from "../model/mod.ts";
import { readArguments, stackOf } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { peopleTime } from "./people_time.ts";
import { withOperations } from "./with_operations.ts";

/** `stackwright hold` */
export const holdCommand: Command = {
  help: `Usage: stackwright hold [--json] [--context NAME] [--reason TEXT] [--until WHEN] <stack>

Holds a stack as it is: no update of its source reaches it, whoever asks, while what is missing of
its release still comes back. WHEN is a time (2026-05-04T18:00:00Z) or a duration (36h); without it,
the hold lasts until stackwright resume. The service may run meanwhile.

Exits 0 when the stack is held, 1 when nothing is recorded about it, 64 when WHEN is none.
`,
  async run(io) {
    const args = readArguments(io.args, 1, ["context", "reason", "until"]);
    const { reason, until } = args.values;
    const input = { ...stackOf(args), reason, until };
    return await withOperations(io, async ({ operations, call }) => {
      const held = await operations.hold.call(input, call);
      const end = held.until === undefined
        ? `stackwright resume ${formatStackArguments(input)}`
        : peopleTime(io)(new Date(held.until));
      io.out(args.json ? JSON.stringify(held) + "\n" : `${input.name} is held until ${end}\n`);
      return EXIT.ok;
    });
  },
};

/** `stackwright resume` */
export const resumeCommand: Command = {
  help: `Usage: stackwright resume [--json] [--context NAME] <stack>

Lets a stack that was held, or rolled back, follow its source again from the next look on; until
that look, status and explain still show what was decided before. Exits 0, also when nobody held it,
and 1 when nothing is recorded about the stack.
`,
  async run(io) {
    const args = readArguments(io.args, 1, ["context"]);
    const key = stackOf(args);
    return await withOperations(io, async ({ operations, call }) => {
      const { resumed } = await operations.resume.call(key, call);
      const text = resumed ? `${key.name} follows its source again` : `${key.name} was not held`;
      io.out(args.json ? JSON.stringify({ resumed }) + "\n" : `${text}\n`);
      return EXIT.ok;
    });
  },
};
