import { quickCheck } from "../app.ts";
import { readArguments } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { table } from "./table.ts";
import { systemOf } from "./with_assembly.ts";

/** `stackwright doctor` */
export const doctorCommand: Command = {
  help: `Usage: stackwright doctor [--quick] [--json]

Says in a few lines what the service would work with: the engine, those of other contexts with the
stacks they have, compose, whether the kernel confines what compose reads while it renders
("confinement"), git, sources with their intervals, addresses, data directory, and once there was
one, whether the service runs on it ("--" where it does not). It asks no other
machine than those of the engines and changes nothing; the service says the same when it starts. Of
a source on another machine it says "not asked", or why it could not be read when the service last
tried. --quick is taken, and changes nothing of that.

Exits 0 when all of it can be worked with, as far as it was asked, 1 when something cannot, 78 when
a setting is wrong. In JSON, "ok" is null for what was not asked, and for "confinement" where the
kernel confines nothing: "says" has the reason, and nothing else depends on it.
`,
  async run(io) {
    const { json } = readArguments(io.args.filter((each) => each !== "--quick"), 0);
    const { settings, system } = await systemOf(io);
    for (const notice of settings.notices) io.err(`warning: ${notice}\n`);
    const findings = await quickCheck(settings, system, io.signal);
    const shown = findings.map(({ about, isFine = null, says }) => ({ about, ok: isFine, says }));
    if (json) io.out(JSON.stringify(shown) + "\n");
    else {
      const rows = findings.map(({ about, isFine, says }) => [markOf(isFine), about, says]);
      io.out(table([["", "WHAT", "SAYS"], ...rows]));
    }
    return findings.some(({ isFine }) => isFine === false) ? EXIT.failed : EXIT.ok;
  },
};

function markOf(isFine: boolean | undefined): string {
  if (isFine === undefined) return "--";
  return isFine ? "ok" : "!!";
}
