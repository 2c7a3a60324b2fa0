import type { StackKey } from "../model/mod.ts";
import { type Arguments, readArguments, stackOf } from "./arguments.ts";
import { type Command, type CommandIo, EXIT } from "./io.ts";
import type { WorkOptions } from "./with_assembly.ts";
import { withOperations, type Workbench } from "./with_operations.ts";

/** A stack that a person names, and the parts for what is done to it. */
interface AskedStack extends Workbench {
  readonly key: StackKey;
  readonly values: Arguments["values"];
  readonly io: CommandIo;
}

interface StackCommand extends WorkOptions {
  readonly help: string;
  /** Options besides `--json` and `--context`. */
  readonly options?: readonly string[];
  /** Does what is asked; says it for programs, and in words. */
  readonly ask: (asked: AskedStack) => Promise<readonly [view: unknown, text: string]>;
}

/** Makes a command that is a face of one operation on one stack. */
export function stackCommand({ help, options = [], ask, ...work }: StackCommand): Command {
  return {
    help,
    async run(io) {
      const args = readArguments(io.args, 1, ["context", ...options]);
      const key = stackOf(args);
      return await withOperations(io, async (bench) => {
        const [view, text] = await ask({ ...bench, key, values: args.values, io });
        io.out(args.json ? JSON.stringify(view) + "\n" : text);
        return EXIT.ok;
      }, work);
    },
  };
}
