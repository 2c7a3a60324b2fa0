import { unifiedDiff } from "../api/mod.ts";
import { planAside, type PlannedStack, type PlannedStacks, type UnplannedStack } from "../app.ts";
import { formatProblem, type RunTarget } from "../model/mod.ts";
import { readArguments } from "./arguments.ts";
import { requestOf } from "./checkout.ts";
import { colouredDiff } from "./colours.ts";
import { type Command, type CommandIo, EXIT } from "./io.ts";
import { type LiveProgress, liveProgress } from "./live_progress.ts";
import { plainModel } from "./plain_model.ts";
import { systemOf } from "./with_assembly.ts";

/** `stackwright plan` */
export const planCommand: Command = {
  help: `Usage: stackwright plan [--json] [--ref REF] [--target NAME] [directory | URL]

Renders every deployment of a checkout (the current directory unless given; its committed state) or
a repository, bare ones on this machine too, compares it with what runs and with the ledger in
DATA_DIR, and prints the plan and a diff of the models; values that sound secret are shown as a
digest. The JSON output can be given to stackwright apply --plan.

A stack that cannot be planned is reported and keeps no other from being planned.

Exits 0 when there is nothing to do, 2 when there are changes, 1 when a stack cannot be planned.
`,
  async run(io) {
    const { json, values, operands } = readArguments(io.args, 1, ["ref", "target"]);
    const { stacks, failures } = await makePlan(io, {
      repository: operands[0] ?? ".",
      reference: values["ref"] ?? "",
      target: values["target"] ?? "",
    }, liveProgress(io));
    const [only] = failures;
    if (only !== undefined && stacks.length + failures.length === 1) throw only.error;
    if (json) {
      const view = { stacks: stacks.map(viewOf), failures: failures.map(failureView) };
      io.out(JSON.stringify(view) + "\n");
    } else {
      stacks.forEach((stack) => io.out(textOf(stack, io)));
      failures.forEach((failure) => io.err(failureText(failure)));
      io.out(summaryOf(stacks, failures.length));
    }
    if (failures.length > 0) return EXIT.failed;
    return stacks.some((each) => each.plan.kind !== "skip") ? EXIT.changes : EXIT.ok;
  },
};

/** What a plan is made of. */
export interface PlanRequest {
  readonly repository: string;
  readonly reference: string;
  readonly target: string;
}

/** Makes the plan; the data directory is only read. */
export async function makePlan(
  io: CommandIo,
  request: PlanRequest,
  watcher: LiveProgress,
): Promise<PlannedStacks> {
  const { settings, system } = await systemOf(io);
  const named = await requestOf(system, { ...request, cwd: io.cwd }, io.signal);
  const run = { request: named, trigger: "poll", origin: "manual" } as const;
  const reporter = {
    describe({ message }: { readonly message?: string }) {
      if (message !== undefined) watcher.step(message);
    },
    target: (entry: RunTarget) => watcher.target(entry),
  };
  return await planAside(settings, system, { run, reporter }, io.signal);
}

function viewOf(stack: PlannedStack) {
  const { id, context, name, plan, before, after } = stack;
  return { id, context, name, plan, diff: unifiedDiff("deployed", "planned", before, after) };
}

function failureView({ context, name, error }: UnplannedStack) {
  const { code, message, problems } = error;
  return { context, name, code, message, ...(problems.length === 0 ? {} : { problems }) };
}

function failureText({ context, name, error }: UnplannedStack): string {
  const { message, problems } = error;
  const further = problems.map(formatProblem).filter((each) => !message.includes(each));
  return [`stackwright: ${context}/${name}: ${message}`, ...further].join("\n") + "\n";
}

function textOf({ context, name, plan, before, after }: PlannedStack, io: CommandIo): string {
  const services = plan.services.map((each) =>
    `  ${each.name}: ${each.action}: ${each.because.join("; ")}\n`
  );
  const head = `${context}/${name}: ${
    plan.kind === "skip" ? "nothing to do" : plan.kind
  }: ${plan.message}\n`;
  // What is only looked after has no diff to speak of: its labels may differ all the same.
  // Masked before it becomes YAML, which breaks long texts into lines that no mask would find again.
  const shown = (model: string) => plainModel(io.redactor.redact(model));
  const diff = unifiedDiff("deployed", "planned", shown(before), shown(after));
  return head + services.join("") + colouredDiff(diff, io);
}

/** One line with the counts, as the last thing that is read. */
function summaryOf(stacks: readonly PlannedStack[], failed: number): string {
  const counts = new Map<string, number>();
  const count = (what: string, by = 1) => counts.set(what, (counts.get(what) ?? 0) + by);
  for (const { plan } of stacks) {
    for (const { action } of plan.kind === "skip" ? [] : plan.services) {
      if (action !== "keep") count(`to ${action}`);
    }
  }
  const changed = stacks.filter(({ plan }) => plan.kind !== "skip").length;
  const services = [...counts].map(([what, number]) => `${number} ${what}`).join(", ");
  const parts = [
    `${stacks.length + failed} ${stacks.length + failed === 1 ? "stack" : "stacks"}`,
    `${changed} with changes${services === "" ? "" : ` (services: ${services})`}`,
    `${stacks.length - changed} without`,
    ...(failed === 0 ? [] : [`${failed} that cannot be planned`]),
  ];
  return `plan: ${parts.join(", ")}\n`;
}
