import { explainStack, type Explanation } from "../app.ts";
import { formatStackKey, shortId, type StackKey } from "../model/mod.ts";
import { formatTime } from "../system/mod.ts";
import { readArguments, stackOf } from "./arguments.ts";
import { type Command, EXIT } from "./io.ts";
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
      io.out(
        args.json
          ? JSON.stringify({ ...key, ...explanation }) + "\n"
          : describe(key, explanation, settings.timeZone),
      );
      return Promise.resolve(EXIT.ok);
    });
  },
};

function describe(key: StackKey, explanation: Explanation, timeZone: string): string {
  const { current, decisions, failure, pin } = explanation;
  const time = (instant: Date) => formatTime(instant, timeZone);
  const lines = [
    current === undefined
      ? `${formatStackKey(key)}: no release is deployed`
      : `${formatStackKey(key)}: release ${current.number} of ${
        shortId(current.revision.id)
      } (${current.revision.reference})`,
  ];
  if (pin !== undefined) {
    lines.push(
      `held back since ${time(pin.pinnedAt)}, until the inputs are others than at ${
        shortId(pin.revision)
      } or unpin`,
    );
  }
  if (failure !== undefined) {
    lines.push(
      `last failure ${time(failure.lastFailedAt)} (${failure.failures} times): ${failure.message}`,
    );
  }
  for (const decision of decisions) {
    const times = decision.times > 1
      ? `, ${decision.times} times until ${time(decision.lastAt)}`
      : "";
    const reason = decision.reason === undefined ? "" : ` (${decision.reason})`;
    lines.push(
      "",
      `${time(decision.firstAt)}${times}: ${decision.kind}${reason}: ${decision.message}`,
    );
    lines.push(`  by ${decision.origin} ${decision.trigger}, at ${decision.revision}`);
    for (const { input, from, to } of decision.changes) {
      lines.push(`  input ${input}: ${shortDigest(from)} -> ${shortDigest(to)}`);
    }
    for (const service of decision.services) {
      lines.push(`  ${service.name}: ${service.action}: ${service.because.join("; ")}`);
    }
  }
  return lines.join("\n") + "\n";
}

function shortDigest(text: string): string {
  return text === "absent" ? "nothing" : shortId(text.replace(/^[a-z]+:/, ""));
}
