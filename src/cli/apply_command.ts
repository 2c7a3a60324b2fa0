import { resolve } from "node:path";
import { type RunTarget, StackwrightError } from "../model/mod.ts";
import { systemFiles } from "../system/mod.ts";
import { readArguments } from "./arguments.ts";
import { requestOf } from "./checkout.ts";
import { type Command, type CommandIo, EXIT } from "./io.ts";
import { type LiveProgress, liveProgress } from "./live_progress.ts";
import { makePlan, type PlanRequest } from "./plan_command.ts";
import { withOperations } from "./with_operations.ts";

/** `stackwright apply` */
export const applyCommand: Command = {
  help:
    `Usage: stackwright apply [--json] [--ref REF] [--target NAME] [--plan FILE] [directory | URL]

Carries out what stackwright plan shows, with the same ledger and rules as the service. With --plan,
a file that stackwright plan --json wrote, it refuses when what is wanted or what runs has changed
since.

Exits 0 when every stack is as it should be, 1 when one failed.
`,
  async run(io) {
    const { json, values, operands } = readArguments(io.args, 1, ["ref", "target", "plan"]);
    const request = {
      repository: operands[0] ?? ".",
      reference: values["ref"] ?? "",
      target: values["target"] ?? "",
    };
    if (values["plan"] !== undefined) {
      await requireSamePlan(io, request, { file: values["plan"], watcher: liveProgress(io) });
    }
    const targets = await withOperations(io, async ({ system, gate }) => {
      const source = await requestOf(system, { ...request, cwd: io.cwd }, io.signal);
      const work = { kind: "sync", trigger: "poll", origin: "manual", sources: [source] } as const;
      const run = await gate.intake.submit(work, { signal: io.signal }).finished;
      const thrown = gate.thrown();
      if (thrown !== undefined) throw thrown;
      return run.targets;
    });
    if (json) io.out(JSON.stringify({ stacks: targets }) + "\n");
    else targets.forEach((each) => io.out(textOf(each)));
    return targets.some((each) => each.status === "failed") ? EXIT.failed : EXIT.ok;
  },
};

function textOf(target: RunTarget): string {
  const services = (target.services ?? []).filter((each) => each.action !== "keep").map((each) =>
    `  ${each.name}: ${each.action}: ${each.because.join("; ")}\n`
  );
  return `${target.context}/${target.stack}: ${target.status}: ${target.message ?? ""}\n${
    services.join("")
  }`;
}

/** Refuses when the plan that was agreed to is no longer the plan that would be made. */
async function requireSamePlan(
  io: CommandIo,
  request: PlanRequest,
  { file, watcher }: { readonly file: string; readonly watcher: LiveProgress },
): Promise<void> {
  const path = resolve(io.cwd, file);
  const agreed = idsOf(await readPlan(path), path);
  const { stacks, failures } = await makePlan(io, request, watcher);
  const now = idsIn({ stacks, failures });
  if (JSON.stringify(agreed) === JSON.stringify(now)) return;
  throw new StackwrightError(
    "conflict",
    `the plan in ${path} is out of date: what is wanted or what runs has changed since it was made. ` +
      `Nothing was changed; make a new plan`,
  );
}

async function readPlan(path: string): Promise<string> {
  const bytes = await systemFiles.readIfExists(path);
  if (bytes === undefined) throw new StackwrightError("not_found", `there is no plan at ${path}`);
  return new TextDecoder().decode(bytes);
}

/** What of a plan tells it from another one. */
interface PlanIds {
  readonly stacks: readonly { readonly id: string }[];
  /** Stacks that could not be planned: one that can be by now makes it another plan. */
  readonly failures?: readonly { readonly context: string; readonly name: string }[];
}

function idsIn({ stacks, failures = [] }: PlanIds): string[] {
  const failed = failures.map(({ context, name }) => `cannot be planned: ${context}/${name}`);
  return [...stacks.map((each) => String(each.id)), ...failed].sort();
}

function idsOf(text: string, path: string): string[] {
  try {
    return idsIn(JSON.parse(text) as PlanIds);
  } catch (cause) {
    throw new StackwrightError(
      "bad_request",
      `${path} is no plan: it must be what stackwright plan --json printed`,
      { cause },
    );
  }
}
