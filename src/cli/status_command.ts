import { recordedStatuses, type StackStatus } from "../app.ts";
import { formatStackKey, shortId, stackKey, StackwrightError } from "../model/mod.ts";
import type { StackState } from "../plan/mod.ts";
import { formatTime } from "../system/mod.ts";
import { readArguments } from "./arguments.ts";
import { type Command, type CommandIo, EXIT } from "./io.ts";
import { age, peopleTime } from "./people_time.ts";
import { table } from "./table.ts";
import { withAssembly } from "./with_assembly.ts";

/** `stackwright status` */
export const statusCommand: Command = {
  help: `Usage: stackwright status [--json] [--context NAME] [stack]

Reads the ledger in DATA_DIR and asks the engine what runs; the service may run meanwhile. Those
that need somebody come first. States:

  failed     the last release failed, or could not be prepared
  drifted    what runs is not what was deployed
  deploying  a change is under way
  waiting    for a sync window
  held       paused, stopped by a person, or put back to an earlier release
  unknown    nothing is deployed yet, or the engine does not answer
  synced     what runs is what was deployed, and no newer commit changes it

Exits 1 when the stack that was named is not known.
`,
  async run(io) {
    const { json, values, operands } = readArguments(io.args, 1, ["context"]);
    const [name] = operands;
    return await withAssembly(io, async ({ assembly, system, settings }) => {
      const all = await recordedStatuses(assembly, system.clock, io.signal);
      const wanted = stackKey(values["context"] ?? "", name ?? "");
      const shown = all.filter(({ key }) =>
        (name === undefined || key.name === name) &&
        (values["context"] === undefined || key.context === wanted.context)
      );
      if (name !== undefined && shown.length === 0) {
        throw new StackwrightError(
          "not_found",
          `nothing is known about ${formatStackKey(wanted)}; stackwright status lists what is`,
        );
      }
      if (json) {
        io.out(JSON.stringify(shown.map((each) => viewOf(each, settings.timeZone))) + "\n");
      } else io.out(textOf(shown, io, system.clock.now()));
      return EXIT.ok;
    });
  },
};

/** By how much somebody has to look at them. */
const ORDER: readonly StackState[] = [
  "failed",
  "drifted",
  "deploying",
  "waiting",
  "held",
  "unknown",
  "synced",
];

function textOf(stacks: readonly StackStatus[], io: CommandIo, now: Date): string {
  if (stacks.length === 0) return "no stack was deployed or looked at yet\n";
  const time = peopleTime(io);
  const sorted = [...stacks].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const many = new Set(stacks.map(({ key }) => key.context)).size > 1;
  const rows = sorted.map(({ key, state, current, health, running, wanted, why, retryAt }) => {
    const again = retryAt === undefined ? "" : `; tried again ${time(retryAt)}`;
    const [sentence] = why.split("\n");
    return [
      state,
      many ? formatStackKey(key) : key.name,
      current === undefined ? "-" : String(current.number),
      current === undefined ? "-" : shortId(current.revision.id),
      current === undefined ? "-" : age(current.finishedAt ?? current.createdAt, now),
      wanted === 0 ? "-" : `${health} ${running}/${wanted}`,
      `${sentence}${again}`,
    ];
  });
  return table([["STATE", "STACK", "RELEASE", "COMMIT", "AGE", "HEALTH", "WHY"], ...rows]);
}

function viewOf(status: StackStatus, timeZone: string) {
  const { key, state, why, health, running, wanted, current, decision, retryAt } = status;
  const time = (instant: Date) => formatTime(instant, timeZone);
  return {
    ...key,
    state,
    why,
    health,
    running,
    wanted,
    ...(current === undefined ? {} : {
      release: {
        number: current.number,
        repository: current.revision.source.name,
        reference: current.revision.reference,
        revision: current.revision.id,
        deployed_at: time(current.finishedAt ?? current.createdAt),
      },
    }),
    ...(decision === undefined
      ? {}
      : { looked_at: time(decision.lastAt), revision: decision.revision }),
    ...(retryAt === undefined ? {} : { retry_at: time(retryAt) }),
  };
}
