import {
  plannedDiff,
  type PlannedStackView,
  planSourceOperation,
  type UnplannedStackView,
} from "../api/mod.ts";
import { asPolled, keepKey, planAside, type System } from "../app.ts";
import {
  formatProblem,
  type RunTarget,
  type SourceRequest,
  StackwrightError,
} from "../model/mod.ts";
import type { Settings } from "../settings/mod.ts";
import { readArguments } from "./arguments.ts";
import { namedBy, polledSources, requestOf } from "./checkout.ts";
import { colouredDiff } from "./colours.ts";
import { type Command, type CommandIo, EXIT } from "./io.ts";
import { liveProgress } from "./live_progress.ts";
import { peopleTime, withPeopleTimes } from "./people_time.ts";
import { systemOf } from "./with_assembly.ts";
import { NOBODY, redactTexts, stackAsOwner } from "../system/mod.ts";

/** `stackwright plan` */
export const planCommand: Command = {
  help: `Usage: stackwright plan [--json] [--ref REF] [--target NAME] [directory | URL]

Renders every deployment of a checkout, named by any directory in it (the current one unless given;
its committed state), or a repository, bare ones on this machine too, compares it with what runs and
with the ledger in DATA_DIR, and prints the plan and a diff of the models; values that sound secret
are shown as a digest. Containers that somebody else made are compared by image, command,
environment, mounts and ports; values that the release does not have are shown as a digest. The
JSON output can be given to stackwright apply --plan: for that it makes DATA_DIR/instance.key where
there is none.

Of a repository in POLL_CONFIG it plans what the service deploys: deployments of its own that an
entry has, the repository's files for an entry without, and all references where none is named.

A stack that cannot be planned is reported and keeps no other from being planned.

Exits 0 when there is nothing to do, 2 when there are changes, also where a sync window, a person
or a pause holds them back, 1 when a stack cannot be planned.
`,
  async run(io) {
    const { json, values, operands } = readArguments(io.args, 1, ["ref", "target"]);
    // The data directory is only read, which is why it is not opened as for other operations.
    const { settings, system } = await systemOf(io);
    if (json) await keepKey(settings, system);
    const named = await requestOf(system, namedBy(io, { operands, values }), io.signal);
    const input = asPolled(named, settings, system.log);
    const { stacks: found, failures } = await planSourceOperation({
      plan: watchedPlan(io, settings, system),
      sources: polledSources(input, settings.polls, system.log),
    }).call(input, { signal: io.signal, log: system.log });
    // Masked before models become YAML, which breaks long texts into lines that no mask would find again.
    const own = <T extends { context: string; name: string }>(each: T): T =>
      redactTexts(each, (text) => io.redactor.redact(text, stackAsOwner(each)));
    const stacks = found.map(own);
    const [only] = failures;
    if (only !== undefined && stacks.length + failures.length === 1) {
      const { code, name, message, problems = [] } = only;
      const told = message.includes(name) ? message : `${name}: ${message}`;
      throw new StackwrightError(code, told, { problems });
    }
    if (json) {
      const view = { stacks: stacks.map(viewOf), failures: failures.map(own) };
      io.out(JSON.stringify(view) + "\n", NOBODY);
    } else {
      stacks.forEach((stack) => io.out(textOf(stack, io), stackAsOwner(stack)));
      failures.forEach((failure) => io.err(failureText(failure)));
      io.out(summaryOf(stacks, failures.length), NOBODY);
    }
    if (failures.length > 0) return EXIT.failed;
    return stacks.some(hasChanges) ? EXIT.changes : EXIT.ok;
  },
};

/** A plan of a source as a person waits for it, who is told what is being done. */
export function watchedPlan(io: CommandIo, settings: Settings, system: System) {
  const watcher = liveProgress(io);
  const reporter = {
    describe({ message }: { readonly message?: string }) {
      if (message !== undefined) watcher.step(message);
    },
    target: (entry: RunTarget) => watcher.target(entry),
  };
  return (request: SourceRequest, signal: AbortSignal) => {
    const run = { request, trigger: "poll", origin: "manual" } as const;
    return planAside(settings, system, { run, reporter }, signal);
  };
}

/** Whether a plan has changes, also held back by a window, a person or a pause; a retry's wait has none. */
function hasChanges({ plan }: PlannedStackView): boolean {
  if (plan.kind !== "skip" || plan.reason === "sync_window") return true;
  return plan.reason?.startsWith("paused") === true &&
    plan.services.some(({ action }) => action !== "keep");
}

function viewOf({ before, after, ...stack }: PlannedStackView) {
  return { ...stack, diff: plannedDiff({ before, after }) };
}

function failureText({ context, name, message, problems = [] }: UnplannedStackView): string {
  const further = problems.map(formatProblem).filter((each) => !message.includes(each));
  return [`stackwright: ${context}/${name}: ${message}`, ...further].join("\n") + "\n";
}

function textOf(stack: PlannedStackView, io: CommandIo): string {
  const { context, name, plan } = stack;
  const services = plan.services.map((each) =>
    `  ${each.name}: ${each.action}: ${each.because.join("; ")}\n`
  );
  const { kind, message } = plan;
  const what = kind !== "skip" ? `${kind}: ` : hasChanges(stack) ? "" : "nothing to do: ";
  const head = `${context}/${name}: ${what}${withPeopleTimes(message, peopleTime(io))}\n`;
  return head + services.join("") + colouredDiff(plannedDiff(stack), io);
}

/** The last line of output, with the counts. */
function summaryOf(stacks: readonly PlannedStackView[], failed: number): string {
  const changed = stacks.filter(hasChanges);
  const changes = changed.flatMap(({ plan }) =>
    plan.services.filter((each) => each.action !== "keep")
  );
  const services = [...Map.groupBy(changes, ({ action }) => action)]
    .map(([action, all]) => `${all.length} to ${action}`).join(", ");
  const parts = [
    `${stacks.length + failed} ${stacks.length + failed === 1 ? "stack" : "stacks"}`,
    `${changed.length} with changes${services === "" ? "" : ` (services: ${services})`}`,
    `${stacks.length - changed.length} without`,
    ...(failed === 0 ? [] : [`${failed} that cannot be planned`]),
  ];
  return `plan: ${parts.join(", ")}\n`;
}
