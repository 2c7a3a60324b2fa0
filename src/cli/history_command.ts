import type { ReleaseView } from "../api/mod.ts";
import { formatOwner, shortId } from "../model/mod.ts";
import { headline, inTable } from "./headline.ts";
import type { CommandIo } from "./io.ts";
import { peopleTime } from "./people_time.ts";
import { stackCommand } from "./stack_command.ts";
import { fitted, table } from "./table.ts";

function textOf(releases: readonly ReleaseView[], io: CommandIo): string {
  const time = peopleTime(io);
  const rows = releases.map((each) => [
    each.current ? "*" : " ",
    String(each.number),
    time(new Date(each.created_at)),
    each.status,
    shortId(each.revision),
    each.former_owner === undefined ? "" : formatOwner(each.former_owner),
    inTable(headline(each.message), io),
  ]);
  const head = ["", "RELEASE", "TIME", "STATE", "COMMIT", "OF", "WHAT"];
  const runs = releases.some((each) => each.current) ? "" : "none of them is deployed now\n";
  return fitted(table([head, ...rows]), io) + runs;
}

/** `stackwright history` */
export const historyCommand = stackCommand({
  help: `Usage: stackwright history [--json] [--context NAME] <stack>

Newest first, with number, time, state, commit and what became of it; the current one is marked with
a star. Where later commits changed no input of a release, its commit is the newest of them, which
may be younger than the release. Releases of a former owner of the stack say whose they are;
rollback does not choose these. Numbers are what diff and rollback take. Long messages are cut:
--json has all of them. Exits 1 when nothing is recorded.
`,
  onlyReads: true,
  async ask({ operations, call, key, io }) {
    const { releases } = await operations.listReleases.call(key, call);
    return [releases, textOf(releases, io)];
  },
});
