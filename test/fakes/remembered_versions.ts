import { tmpdir } from "node:os";
import type { Command, CommandResult, Commands } from "../../src/system/mod.ts";

/**
 * Commands that start an installed compose only once for its version, of which every service that starts
 * and many a plan ask: that takes as long as rendering a project, and no test installs another one. A
 * plugin that a test made is started each time.
 */
export function rememberingVersions(commands: Commands): Commands {
  const known = new Map<string, CommandResult>();
  return {
    ...commands,
    async run(command, signal) {
      const [program] = command.argv;
      const answer = asksInstalled(command) ? known.get(program) : undefined;
      if (answer !== undefined) return answer;
      const result = await commands.run(command, signal);
      if (asksInstalled(command) && result.code === 0) known.set(program, result);
      return result;
    },
  };
}

function asksInstalled({ argv: [program, ...args] }: Command): boolean {
  return program.startsWith("/") && !program.startsWith(tmpdir()) &&
    args.join(" ") === "compose version --short";
}
