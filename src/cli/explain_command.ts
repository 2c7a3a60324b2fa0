import { explainStack, type Explanation } from "../app.ts";
import { formatStackKey, shortId, type StackKey } from "../model/mod.ts";
import { formatTime } from "../system/mod.ts";
import { readArguments, stackOf } from "./arguments.ts";
import { explainView } from "./explain_view.ts";
import { type Command, EXIT } from "./io.ts";
import { type PeopleTime, peopleTime } from "./people_time.ts";
import { withAssembly } from "./with_assembly.ts";

/** `stackwright explain` */
export const explainCommand: Command = {
  help: `Usage: stackwright explain [--json] [--context NAME] <stack>

Reads the ledger in DATA_DIR; the service may run meanwhile. Exits 1 when nothing is recorded.
`,
  async run(io) {
    const args = readArguments(io.args, 1, ["context"]);
    const key = stackOf(args);
    return await withAssembly(io, ({ assembly, settings }) => {
      const explanation = explainStack(assembly, key, 10);
      const inZone = (instant: Date) => formatTime(instant, settings.timeZone);
      io.out(
        args.json
          ? JSON.stringify(explainView(key, explanation, inZone)) + "\n"
          : describe(key, explanation, peopleTime(io)),
      );
      return Promise.resolve(EXIT.ok);
    });
  },
};

function describe(key: StackKey, explanation: Explanation, time: PeopleTime): string {
  const { current, decisions, failure, pin, pinned } = explanation;
  const lines = [
    current === undefined
      ? `${formatStackKey(key)}: no release is deployed`
      : `${formatStackKey(key)}: release ${current.number} of ${
        shortId(current.revision.id)
      } (${current.revision.reference})${what(current.message)}`,
  ];
  if (pin !== undefined) {
    lines.push(
      `held back${pinned === undefined ? "" : ` at release ${pinned.number}`} since ${
        time(pin.pinnedAt)
      }, until the inputs are others than at ${shortId(pin.revision)} or unpin`,
    );
  }
  if (failure !== undefined) {
    lines.push(
      `last failure ${time(failure.lastFailedAt)} (${times(failure.failures)}): ${failure.message}`,
    );
  }
  for (const decision of decisions) {
    const repeated = decision.times > 1
      ? `, ${decision.times} times until ${time(decision.lastAt)}`
      : "";
    const reason = decision.reason === undefined ? "" : ` (${decision.reason})`;
    lines.push(
      "",
      `${time(decision.firstAt)}${repeated}: ${decision.kind}${reason}: ${decision.message}`,
    );
    lines.push(`  by ${decision.origin} ${decision.trigger}, at ${decision.revision}`);
    lines.push(...outcomeOf(decision));
    for (const { input, from, to } of decision.changes) {
      lines.push(`  input ${input}: ${shortDigest(from)} -> ${shortDigest(to)}`);
    }
    for (const service of decision.services) {
      lines.push(`  ${service.name}: ${service.action}: ${service.because.join("; ")}`);
    }
  }
  return lines.join("\n") + "\n";
}

/** A release that was put back, or repaired, has a number of its own: which one it is, is said too. */
function what(message: string): string {
  const [line = ""] = message.split("\n");
  return /^(release \d+ again|repaired release \d+)/.test(line) ? `: ${line}` : "";
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

/** How an attempt ended; what only looked has no outcome. */
function outcomeOf({ kind, outcome }: Explanation["decisions"][number]): string[] {
  if (kind === "skip" || kind === "error") return [];
  if (outcome === undefined) return ["  outcome: not known; it is under way, or was interrupted"];
  const [line = ""] = outcome.message.split("\n");
  return [`  outcome: ${outcome.status}: ${line}`];
}

function shortDigest(text: string): string {
  return text === "absent" ? "nothing" : shortId(text.replace(/^[a-z]+:/, ""));
}
