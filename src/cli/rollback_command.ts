import type { StackKey } from "../model/mod.ts";
import { readArguments, releaseNumber, stackOf } from "./arguments.ts";
import { headline, inTable } from "./headline.ts";
import { noted } from "./hold_command.ts";
import { type Command, type CommandIo, EXIT } from "./io.ts";
import { peopleTime, withPeopleTimes } from "./people_time.ts";
import { stackCommand } from "./stack_command.ts";
import { whatBecame, withOperations, type Workbench } from "./with_operations.ts";

/** `stackwright rollback` */
export const rollbackCommand: Command = {
  help: `Usage: stackwright rollback [--json] [--context NAME] [--reason TEXT] <stack> [release]

Deploys a recorded release again, by default the good one before the current. Updates then leave the
stack alone until a commit changes its inputs, or until stackwright resume or unpin. The good one
before the current is the newest that differs from it. A hold does not keep a person from this.
Services that the release which is left had added are removed; other orphans stay where the
deployment says remove_orphans: false.
A release that failed before is deployed only when its number is given, with a warning first.
Releases of a former owner of the stack are not deployed: see stackwright adopt --help.

Exits 0 when the release is back, 1 when it failed or there is none.
`,
  async run(io) {
    const args = readArguments(io.args, 2, ["context", "reason"]);
    const key = stackOf(args);
    const number = args.operands[1] === undefined ? undefined : releaseNumber(args.operands[1]);
    const input = { ...key, release: number, reason: args.values["reason"] };
    return await withOperations(io, async (bench) => {
      if (number !== undefined) await warnOfFailed(bench, { ...key, number }, io);
      const result = await bench.operations.rollBack.call(input, bench.call);
      const message = whatBecame(bench, result).replace(/^release \d+ again: /, "");
      const { release } = result;
      const text = `${key.name} is back at release ${release} (${message})`;
      io.out(args.json ? JSON.stringify({ release, message }) + "\n" : `${text}\n`);
      return EXIT.ok;
    });
  },
};

/** Says first that a release failed when it was deployed: it may do so again, and take its time. */
async function warnOfFailed(
  { operations, call }: Workbench,
  { number, ...key }: StackKey & { readonly number: number },
  io: CommandIo,
): Promise<void> {
  const page = { ...key, limit: 1, before: number + 1 };
  const { releases: [found] } = await operations.listReleases.call(page, call);
  if (found?.number !== number || !["failed", "rolled_back"].includes(found.status)) return;
  io.err(
    `stackwright: release ${number} of ${key.name} failed when it was deployed ` +
      `(${inTable(headline(found.message), io)}); it is tried again all the same\n`,
  );
}

/** `stackwright retry` */
export const retryCommand = stackCommand({
  help: `Usage: stackwright retry [--json] [--context NAME] <stack>

Tries a release that failed again now, whatever the options under retry say: what the source of the
stack says by now is deployed. Exits 1 when that fails too, and when nothing had failed.
`,
  async ask({ operations, call, gate, key }) {
    const message = whatBecame({ gate }, await operations.retryStack.call(key, call));
    return [{ message }, `${key.name}: ${message}\n`];
  },
});

/** `stackwright unpin` */
export const unpinCommand = stackCommand({
  help: `Usage: stackwright unpin [--json] [--context NAME] <stack>

Ends the pin of a rollback: the next look at the source deploys what it says by then. A hold stays;
stackwright resume ends both. Exits 0, also when nothing was pinned, and 1 when nothing is recorded
about the stack.
`,
  async ask({ operations, call, key, io }) {
    const view = await operations.unpin.call(key, call);
    const freed = view.note === undefined
      ? "follows its reference again"
      : "is not pinned any more";
    const what = view.unpinned ? freed : "was not held back";
    return [view, withPeopleTimes(`${key.name} ${what}${noted(view)}\n`, peopleTime(io))];
  },
});
