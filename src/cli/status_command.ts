import { type DeploymentView, isOver, type SourceFailureView } from "../api/mod.ts";
import { isServed, NOT_SERVED } from "../app.ts";
import {
  DEFAULT_CONTEXT,
  endOfOutput,
  errors,
  formatStackKey,
  shortId,
  stackKey,
} from "../model/mod.ts";
import type { StackState } from "../plan/mod.ts";
import { readArguments } from "./arguments.ts";
import { containersText } from "./containers_text.ts";
import { failedSource } from "./failed_source.ts";
import { headline, inTable, withLastLine } from "./headline.ts";
import { type Command, type CommandIo, EXIT } from "./io.ts";
import { age, peopleTime, withPeopleTimes } from "./people_time.ts";
import { putBackText } from "./put_back_text.ts";
import { jobText } from "./stack_job.ts";
import { fitted, fittedLines, table } from "./table.ts";
import { withOperations, type Workbench } from "./with_operations.ts";

/** `stackwright status` */
export const statusCommand: Command = {
  help: `Usage: stackwright status [--json] [--context NAME] [stack]

Reads the ledger in DATA_DIR and asks the engine what runs; the service may run meanwhile. Shows the
stacks of the default context, or those of another one with --context, and says where there are
more. Those that need somebody come first. States:

  failed     the last release failed, could not be prepared, or was interrupted
  drifted    what runs is not what was deployed
  deploying  a change is under way
  waiting    for a sync window, a running job, or the next poll after what held it ended
  held       paused, stopped by a person, or put back to an earlier release
  orphaned   it runs, and no configuration names it any more, or another context has it
  unknown    nothing is deployed yet, or the engine does not answer
  synced     what runs is what was deployed, and no newer commit changes it

What programs said at length is cut, unless a stack is named: explain and --json have all of it. A
job whose last run failed, a source that cannot be read, and what failed on other contexts and never
worked there have a line of their own: stacks of the former two stay as they are meanwhile. A source
that only a webhook named, and from which nothing is deployed, is told of for an hour. The last line
says where the service does not run any more. --json prints {"deployments": [...],
"failed_sources": [...]}, with the fields of GET /v1/api/deployments.

Exits 1 when the stack that was named is not known.
`,
  async run(io) {
    const { json, values, operands } = readArguments(io.args, 1, ["context"]);
    const [name] = operands;
    return await withOperations(io, async (bench) => {
      const context = values["context"] ?? "";
      const { all, failed } = await allDeployments(bench, context);
      const shown = all.filter((each) => name === undefined || each.name === name);
      const { system: { files }, settings: { data } } = bench;
      const isDead = await isServed(files, data.dir) === false;
      const told = isDead ? shown.map(withoutNext) : shown;
      const now = bench.system.clock.now();
      const sources = name === undefined
        ? failed
        : shown.flatMap(({ source_failure: own }) => own === undefined ? [] : [own]);
      if (name !== undefined && shown.length === 0) {
        const { ledger } = bench.assembly;
        const [last] = ledger.decisions.of(stackKey(context, name), 1);
        if (last?.kind === "destroy") {
          const at = peopleTime(io)(last.lastAt);
          const done = last.outcome?.message ?? last.message;
          const why = `${done}, ${at}; stackwright explain ${name} says more`;
          throw errors.not_found(`nothing of ${name} is deployed any more: ${why}`);
        }
        throw errors.not_found(
          `nothing is known about ${formatStackKey(stackKey(context, name))}; stackwright status ` +
            "lists what is",
        );
      }
      if (json) io.out(JSON.stringify({ deployments: shown, failed_sources: sources }) + "\n");
      else if (shown.length === 0) {
        io.out(`no stack was deployed or looked at yet, says the ledger in DATA_DIR ${data.dir}\n`);
      } else {
        io.out(textOf(told, io, { now, isWhole: name !== undefined }));
      }
      if (!json) io.out(fittedLines(failedJobsText(told, io) + failedText(sources, io), io));
      if (!json && values["context"] === undefined && name === undefined) {
        io.out(fittedLines(await elsewhere(bench, now, io), io));
      }
      if (!json && isDead) io.out(`the service ${NOT_SERVED}\n`);
      return EXIT.ok;
    }, { onlyReads: true });
  },
};

/** A stack without what the service would do next, for people who read that it does not run. */
function withoutNext({ retry_at: _retry, jobs, ...stack }: DeploymentView): DeploymentView {
  return jobs === undefined
    ? stack
    : { ...stack, jobs: jobs.map(({ next_run_at: _next, ...job }) => job) };
}

/** A line for each job whose last run failed. */
function failedJobsText(stacks: readonly DeploymentView[], io: CommandIo): string {
  const time = peopleTime(io);
  const brief = (message: string) => inTable(endOfOutput(message), io);
  return stacks.flatMap(({ name, jobs = [] }) =>
    jobs.map((each) => `${name}: ${jobText(each, (text) => time(new Date(text)), brief)}\n`)
  ).join("");
}

/** A line for each source that cannot be read. */
function failedText(sources: readonly SourceFailureView[], io: CommandIo): string {
  const time = peopleTime(io);
  return sources.map((each) => `${failedSource(each, (text) => time(new Date(text)))}\n`).join("");
}

/** Lines for stacks of other contexts that failed; more are counted. */
const MOST_FAILED_ELSEWHERE = 5;

/**
 * Hints at stacks in other contexts than the default one. What failed there and never worked has a line
 * of its own: nobody can ask for the stacks of a context that does not exist.
 */
async function elsewhere({ assembly }: Workbench, now: Date, io: CommandIo): Promise<string> {
  const { ledger, engines } = assembly;
  const known = await engines.names();
  const failed = ledger.decisions.latest().filter(({ key, decision }) =>
    key.context !== DEFAULT_CONTEXT && ledger.current(key) === undefined &&
    (decision.kind === "error" || decision.outcome?.status === "failed") &&
    !isOver(decision, now.getTime())
  );
  const lines = failed.slice(0, MOST_FAILED_ELSEWHERE).map(({ key, decision }) => {
    const why = decision.outcome?.message ?? decision.message;
    return `${formatStackKey(key)} failed: ${inTable(headline(why), io)}\n`;
  });
  const more = failed.length - lines.length;
  const stacks = [
    ...ledger.deployedStacks(),
    ...failed.filter(({ key }) => known.includes(key.context)),
  ];
  const others = [...new Set(stacks.map(({ key }) => key.context))]
    .filter((each) => each !== DEFAULT_CONTEXT).sort();
  const name = others.length === 1 ? others[0] : "NAME";
  return lines.join("") + (more > 0 ? `${more} more failed on other contexts\n` : "") +
    (others.length === 0
      ? ""
      : `further stacks on ${others.join(", ")}: stackwright status --context ${name}\n`);
}

/** States in the order of their urgency. */
const ORDER: readonly StackState[] = [
  "failed",
  "drifted",
  "deploying",
  "waiting",
  "orphaned",
  "held",
  "unknown",
  "synced",
];

/** The table of stacks; of one that was named it has all that is said. */
function textOf(
  stacks: readonly DeploymentView[],
  io: CommandIo,
  { now, isWhole }: { readonly now: Date; readonly isWhole: boolean },
): string {
  const time = peopleTime(io);
  // Within a state those with a failed job come first.
  const urgency = ({ state, jobs }: DeploymentView) =>
    2 * ORDER.indexOf(state) + (jobs === undefined ? 1 : 0);
  const sorted = [...stacks].sort((a, b) => urgency(a) - urgency(b));
  const many = new Set(stacks.map(({ context }) => context)).size > 1;
  const rows = sorted.map((stack) => {
    const { state, release, why, drifted, retry_at: retryAt, jobs } = stack;
    const brief = (text: string) => isWhole ? withLastLine(text) : inTable(withLastLine(text), io);
    // What waits says until when by itself.
    const isSaid = retryAt === undefined || state === "waiting";
    const again = isSaid ? "" : `; next try ${time(new Date(retryAt))}`;
    const back = putBackText({ ...stack, number: release?.number });
    const failed = jobs === undefined ? "" : "; its job failed";
    const unread = stack.source_failure === undefined ? "" : "; its source cannot be read";
    return [
      state,
      many ? formatStackKey(stack) : stack.name,
      release === undefined ? "-" : String(release.number),
      release === undefined ? "-" : shortId(release.revision),
      release === undefined ? "-" : age(new Date(release.deployed_at), now),
      containersText(stack) || "-",
      brief(withPeopleTimes(why, time)) + (drifted === undefined ? "" : `; ${brief(drifted)}`) +
      `${back && `; ${back}`}${again}${failed}${unread}`,
    ];
  });
  const head = ["STATE", "STACK", "RELEASE", "COMMIT", "AGE", "HEALTH", "WHY"];
  return fitted(table([head, ...rows]), io) + summaryOf(stacks);
}

/** Number of stacks in each state: the first lines of a long list scroll out of sight. */
function summaryOf(stacks: readonly DeploymentView[]): string {
  if (stacks.length === 1) return "";
  const found = Map.groupBy(stacks, ({ state }) => state);
  const counts = ORDER.flatMap((state) => {
    const count = found.get(state)?.length ?? 0;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  const hint = found.has("failed") || found.has("drifted")
    ? "; stackwright explain NAME says more"
    : "";
  return `${stacks.length} stacks: ${counts.join(", ")}${hint}\n`;
}

/** Every page of the list, one after the other, and the sources that cannot be read. */
async function allDeployments({ operations, call }: Workbench, context: string): Promise<{
  readonly all: readonly DeploymentView[];
  readonly failed: readonly SourceFailureView[];
}> {
  const all: DeploymentView[] = [];
  const failed: SourceFailureView[] = [];
  let after: string | undefined;
  for (;;) {
    const input = { context, limit: PAGE, after };
    const page = await operations.listDeployments.call(input, call);
    all.push(...page.deployments);
    failed.push(...page.failed_sources ?? []);
    const { next } = page;
    if (next === undefined) return { all, failed };
    after = next;
  }
}

/** Stacks of one page. */
const PAGE = 500;
