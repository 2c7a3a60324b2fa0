import { quickCheck } from "../app.ts";
import { readArguments } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { table } from "./table.ts";
import { systemOf } from "./with_assembly.ts";

/** `stackwright doctor` */
export const doctorCommand: Command = {
  help: `Usage: stackwright doctor [--quick] [--json]

Says in a few lines what the service would work with: the engine, those of other contexts with the
stacks they have, compose, git, sources with their intervals, addresses, data directory. It asks no
other machine than those of the engines and changes nothing; the service says the same when it
starts.

Exits 0 when all of it can be worked with, 1 when something cannot, 78 when a setting is wrong.
`,
  async run(io) {
    const { json } = readArguments(io.args.filter((each) => each !== "--quick"), 0);
    const { settings, system } = await systemOf(io);
    for (const notice of settings.notices) io.err(`warning: ${notice}\n`);
    const findings = await quickCheck(settings, system, io.signal);
    const shown = findings.map(({ about, isFine, says }) => ({ about, ok: isFine, says }));
    if (json) io.out(JSON.stringify(shown) + "\n");
    else {
      const rows = findings.map(({ about, isFine, says }) => [isFine ? "ok" : "!!", about, says]);
      io.out(table([["", "WHAT", "SAYS"], ...rows]));
    }
    return findings.every(({ isFine }) => isFine) ? EXIT.ok : EXIT.failed;
  },
};
