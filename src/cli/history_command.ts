import { stackHistory } from "../app.ts";
import { shortId } from "../model/mod.ts";
import { formatTime } from "../system/mod.ts";
import { readArguments, stackOf } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { withAssembly } from "./with_assembly.ts";

/** Releases that are listed. */
const LIMIT = 50;

/** `stackwright history` */
export const historyCommand: Command = {
  help: `Usage: stackwright history [--json] [--context NAME] <stack>

Newest first, with number, time, state, commit and what became of it. Numbers are what diff and
rollback take.
`,
  async run(io) {
    const args = readArguments(io.args, 1, ["context"]);
    const key = stackOf(args);
    return await withAssembly(io, ({ assembly, settings }) => {
      const current = assembly.ledger.current(key)?.id;
      const releases = stackHistory(assembly, key, LIMIT).map((release) => ({
        number: release.number,
        current: release.id === current,
        status: release.status,
        revision: release.revision.id,
        reference: release.revision.reference,
        created_at: formatTime(release.createdAt, settings.timeZone),
        message: release.message,
      }));
      if (args.json) io.out(JSON.stringify(releases) + "\n");
      else {
        for (const each of releases) {
          const mark = each.current ? "*" : " ";
          const [message] = each.message.split("\n");
          io.out(
            `${mark} ${String(each.number).padStart(4)}  ${each.created_at}  ${
              each.status.padEnd(11)
            }  ` +
              `${shortId(each.revision)}  ${message}\n`,
          );
        }
      }
      return Promise.resolve(EXIT.ok);
    });
  },
};
