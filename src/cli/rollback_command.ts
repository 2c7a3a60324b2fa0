import { rollBackStack } from "../app.ts";
import { readArguments, releaseNumber, stackOf } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { liveProgress } from "./live_progress.ts";
import { withAssembly } from "./with_assembly.ts";
import { withOperations } from "./with_operations.ts";

/** `stackwright rollback` */
export const rollbackCommand: Command = {
  help: `Usage: stackwright rollback [--json] [--context NAME] <stack> [release]

Deploys a recorded release again, by default the good one before the current. Updates then leave the
stack alone until a commit changes its inputs, or until stackwright unpin.
`,
  async run(io) {
    const args = readArguments(io.args, 2, ["context"]);
    const key = stackOf(args);
    const number = args.operands[1] === undefined ? undefined : releaseNumber(args.operands[1]);
    return await withAssembly(io, async ({ assembly }) => {
      const watcher = liveProgress(io);
      const progress = (step: string) => watcher.stack(key.name, step);
      const wanted = { number, progress };
      const { release, message } = await rollBackStack(assembly, key, wanted, io.signal);
      const text = `${key.name} is back at release ${release.number} (${message})`;
      io.out(args.json ? JSON.stringify({ release: release.number, message }) + "\n" : `${text}\n`);
      return EXIT.ok;
    });
  },
};

/** `stackwright unpin` */
export const unpinCommand: Command = {
  help: "Usage: stackwright unpin [--json] [--context NAME] <stack>\n",
  async run(io) {
    const args = readArguments(io.args, 1, ["context"]);
    const key = stackOf(args);
    return await withOperations(io, async ({ operations, call }) => {
      const { unpinned } = await operations.unpin.call(key, call);
      const text = unpinned
        ? `${key.name} follows its reference again`
        : `${key.name} was not held back`;
      io.out(args.json ? JSON.stringify({ unpinned }) + "\n" : `${text}\n`);
      return EXIT.ok;
    });
  },
};
