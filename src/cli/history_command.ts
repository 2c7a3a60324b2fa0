import { stackHistory } from "../app.ts";
import { shortId } from "../model/mod.ts";
import { formatTime } from "../system/mod.ts";
import { readArguments, stackOf } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
import { type PeopleTime, peopleTime } from "./people_time.ts";
import { table } from "./table.ts";
import { withAssembly } from "./with_assembly.ts";

interface Listed {
  readonly number: number;
  readonly current: boolean;
  readonly status: string;
  readonly revision: string;
  readonly created_at: string;
  readonly message: string;
}

function textOf(releases: readonly Listed[], time: PeopleTime): string {
  const rows = releases.map(({ number, current, status, revision, created_at: at, message }) => [
    current ? "*" : " ",
    String(number),
    time(new Date(at)),
    status,
    shortId(revision),
    message.split("\n")[0] ?? "",
  ]);
  return table([["", "RELEASE", "TIME", "STATE", "COMMIT", "WHAT"], ...rows]);
}

/** Releases that are listed. */
const LIMIT = 50;

/** `stackwright history` */
export const historyCommand: Command = {
  help: `Usage: stackwright history [--json] [--context NAME] <stack>

Newest first, with number, time, state, commit and what became of it; the current one is marked with
a star. Numbers are what diff and rollback take.
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
      else io.out(textOf(releases, peopleTime(io)));
      return Promise.resolve(EXIT.ok);
    });
  },
};
