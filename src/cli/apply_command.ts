import { resolve } from "node:path";
import {
  type AgreedPlans,
  agreedPlans,
  applySourceOperation,
  type TargetView,
} from "../api/mod.ts";
import { asPolled } from "../app.ts";
import { errors } from "../model/mod.ts";
import { readText, systemFiles } from "../system/mod.ts";
import { readArguments } from "./arguments.ts";
import { namedBy, polledSources, requestOf } from "./checkout.ts";
import { type Command, type CommandIo, EXIT } from "./io.ts";
import { peopleTime, withPeopleTimes } from "./people_time.ts";
import { watchedPlan } from "./plan_command.ts";
import { withOperations } from "./with_operations.ts";

/** `stackwright apply` */
export const applyCommand: Command = {
  help:
    `Usage: stackwright apply [--json] [--ref REF] [--target NAME] [--plan FILE] [directory | URL]

Carries out what stackwright plan shows, with the same ledger and rules as the service. With --plan,
a file that stackwright plan --json wrote, it refuses when what is wanted or what runs has changed
since. Of a repository in POLL_CONFIG it deploys what the service does, as plan has it.

Exits 0 when every stack is as it should be, 1 when one failed, 2 when the change of one was held
back: deferred by a sync window, held or rolled back by a person, or paused. --json has "retry_at"
where it is known until when.
`,
  async run(io) {
    const { json, values, operands } = readArguments(io.args, 1, ["ref", "target", "plan"]);
    const agreed = values["plan"] === undefined ? undefined : await readPlan(io, values["plan"]);
    const stacks = await withOperations(io, async ({ settings, system, gate, call }) => {
      const named = await requestOf(system, namedBy(io, { operands, values }), io.signal);
      const input = asPolled(named, settings, system.log);
      const sources = polledSources(input, settings.polls, system.log);
      const { intake, thrown } = gate;
      const plan = watchedPlan(io, settings, system);
      const { run } = await applySourceOperation({
        intake,
        plan,
        sources,
        timeZone: settings.timeZone,
      })
        .call({ ...input, plan: agreed }, call);
      const error = thrown();
      if (error !== undefined) throw error;
      return run.deployments ?? [];
    }, { begins: true });
    if (json) io.out(JSON.stringify({ stacks }) + "\n");
    else stacks.forEach((each) => io.out(textOf(each, io)));
    if (stacks.some((each) => each.status === "failed")) return EXIT.failed;
    return stacks.some(isHeldBack) ? EXIT.changes : EXIT.ok;
  },
};

/** Whether what was asked for waits, although what is deployed may have been repaired meanwhile. */
function isHeldBack({ reason = "" }: TargetView): boolean {
  return reason === "sync_window" || reason.startsWith("paused");
}

function textOf(target: TargetView, io: CommandIo): string {
  const { context, stack, status, message = "" } = target;
  const said = status === "skipped" ? withPeopleTimes(message, peopleTime(io)) : message;
  const services = (target.services ?? []).filter((each) => each.action !== "keep").map((each) =>
    `  ${each.name}: ${each.action}: ${each.because.join("; ")}\n`
  );
  return `${context}/${stack}: ${status}: ${said}\n${services.join("")}`;
}

/** Most bytes of a plan in a file. */
const MOST_OF_PLAN = 64 * 1024 * 1024;

async function readPlan(io: CommandIo, file: string): Promise<AgreedPlans> {
  const path = resolve(io.cwd, file);
  const text = await readText(systemFiles, path, MOST_OF_PLAN);
  if (text === undefined) throw errors.not_found(`there is no plan at ${path}`);
  try {
    return agreedPlans.parse(JSON.parse(text));
  } catch (cause) {
    throw errors.bad_request(
      `${path} is no plan: it must be what stackwright plan --json printed`,
      { cause },
    );
  }
}
