import type { ReleaseView } from "../api/mod.ts";
import { shortId } from "../model/mod.ts";
import { readArguments, stackOf } from "./arguments.ts";
import { headline } from "./headline.ts";
import { type Command, EXIT } from "./io.ts";
import { type PeopleTime, peopleTime } from "./people_time.ts";
import { table } from "./table.ts";
import { withOperations } from "./with_operations.ts";

function textOf(releases: readonly ReleaseView[], time: PeopleTime): string {
  const rows = releases.map(({ number, current, status, revision, created_at: at, message }) => [
    current ? "*" : " ",
    String(number),
    time(new Date(at)),
    status,
    shortId(revision),
    headline(message),
  ]);
  return table([["", "RELEASE", "TIME", "STATE", "COMMIT", "WHAT"], ...rows]);
}

/** `stackwright history` */
export const historyCommand: Command = {
  help: `Usage: stackwright history [--json] [--context NAME] <stack>

Newest first, with number, time, state, commit and what became of it; the current one is marked with
a star. Numbers are what diff and rollback take. Exits 1 when nothing is recorded.
`,
  async run(io) {
    const args = readArguments(io.args, 1, ["context"]);
    const key = stackOf(args);
    return await withOperations(io, async ({ operations, call }) => {
      const { releases } = await operations.listReleases.call(key, call);
      if (args.json) io.out(JSON.stringify(releases) + "\n");
      else io.out(textOf(releases, peopleTime(io)));
      return EXIT.ok;
    });
  },
};
