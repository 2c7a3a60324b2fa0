import { type DecisionView, type DeploymentDetail, HANDED_OVER } from "../api/mod.ts";
import {
  type Drift,
  formatAdoption,
  formatDrift,
  formatOwner,
  formatStackArguments,
  formatStackKey,
  isOrphan,
  shortId,
  withSequel,
} from "../model/mod.ts";
import { LEFT, UNPOLLED } from "../plan/mod.ts";
import { containersText } from "./containers_text.ts";
import { failedSource } from "./failed_source.ts";
import { headline } from "./headline.ts";
import { peopleTime, withPeopleTimes } from "./people_time.ts";
import { putBackText } from "./put_back_text.ts";
import { stackCommand } from "./stack_command.ts";
import { jobText } from "./stack_job.ts";
import { fittedLines } from "./table.ts";

/** `stackwright explain` */
export const explainCommand = stackCommand({
  help: `Usage: stackwright explain [--json] [--context NAME] <stack>

Reads the ledger in DATA_DIR and asks the engine what runs; the service may run meanwhile. Exits 1
when nothing is recorded.
`,
  onlyReads: true,
  async ask({ operations, call, key, io }) {
    const detail = await operations.getDeployment.call(key, call);
    const time = peopleTime(io);
    return [detail, fittedLines(explainText(detail, (text) => time(new Date(text))), io)];
  },
});

/** What people are told of a stack, line by line. */
export function explainText(detail: DeploymentDetail, time: (text: string) => string): string {
  const { current } = detail;
  const release = current === undefined
    ? "no release is deployed"
    : `release ${current.number} of ${shortId(current.revision)} (${current.reference})` +
      what(current.message);
  const lines = [
    `${formatStackKey(detail)}: ${release}`,
    stateOf(detail, time),
    ...heldBy(detail, time),
    ...ownedBy(detail),
    ...(detail.source_failure === undefined ? [] : [failedSource(detail.source_failure, time)]),
    // What containers printed begins no line of ours.
    ...(detail.jobs ?? []).map((each) => jobText(each, time).replaceAll("\n", "\n  ")),
  ];
  const drift = (detail.drift ?? []).map(({ container, ...each }): Drift => (
    container === undefined ? each : { ...each, container: { id: "", name: container } }
  ));
  // An orphan that was kept is none: the stack stays as it is called, and its state names the first.
  const told = drift.filter((each) => !isOrphan(each) || !detail.why.includes(formatDrift(each)));
  lines.push(...told.map((each) => `${isOrphan(each) ? "" : "drift: "}${formatDrift(each)}`));
  const fields = drift.filter((each) => !isOrphan(each)).map(({ field }) => field);
  if (fields.length > 0) {
    lines.push(`  ${mendedBy(fields, detail)}`);
  }
  for (const [index, { at, count, message }] of failuresOf(detail).entries()) {
    lines.push(
      `${index === 0 ? "last failure" : "before that"} ${time(at)} (${times(count)}): ${message}`,
    );
  }
  const decisions = detail.decisions.filter((each, at, all) => !isToldBy(all[at + 1], each));
  lines.push(...decisions.flatMap((each) => describeDecision(each, time)));
  return lines.join("\n") + "\n";
}

/** What mends drift, or why nothing does. */
function mendedBy(
  fields: readonly string[],
  { stopped_at: stopped, failure }: Pick<DeploymentDetail, "stopped_at" | "failure">,
): string {
  if (stopped !== undefined) return "not mended before it is started again";
  if (failure?.removal) {
    return "not mended: it is being removed; it comes back if it is named again";
  }
  return fields.every((each) => COME_BACK.includes(each) || each.startsWith("network "))
    ? "mended by the next poll or stackwright apply, or at once by reconciliation.events"
    : "mended by reconciliation: {drift: repair}, or once: POST …/project/NAME/recreate of the API";
}

/** What a poll mends by itself, besides networks. */
const COME_BACK = ["state", "name", "containers"];

/**
 * The failures that no success has followed, the newest first: of a release, and of the last attempt,
 * where that did not come as far as to a release.
 */
function failuresOf({ failure, decisions: [last] }: DeploymentDetail) {
  if (failure === undefined) return [];
  const { last_failed_at: at, failures, failures_by_hand: byHand, message } = failure;
  const known = [{ at, count: failures + byHand, message }];
  if (last?.kind !== "error" || Date.parse(last.last_at) <= Date.parse(at)) return known;
  // The error that was recorded as the release's failure is one failure.
  if (last.message === message) return known;
  return [{ at: last.last_at, count: last.times, message: last.message }, ...known];
}

/** The first line: the state as in `status`, and what happens next automatically. */
function stateOf(detail: DeploymentDetail, time: (text: string) => string): string {
  const { state, why, drifted = "", retry_at: again, pin, hold, stopped_at: stopped, current } =
    detail;
  const counts = containersText(detail);
  const containers = counts === "" ? "" : `, ${counts}`;
  // The last failure and the hold have lines of their own.
  const failure = failuresOf(detail)[0]?.message ?? "";
  const left = [LEFT, UNPOLLED].find((each) => why === withSequel(failure, each));
  const isTold = why === failure ||
    state === "held" && (pin ?? hold) !== undefined && stopped === undefined;
  const said = isTold || left !== undefined
    ? left ?? drifted
    : withPeopleTimes(headline(why), (instant) => time(instant.toISOString()));
  const back = putBackText({ ...detail, number: current?.number });
  const reason = [said, back].filter((each) => each !== "").join("; ");
  return `${state}${containers}${reason && `: ${reason}`}` +
    (again === undefined || state === "waiting" ? "" : `; next try ${time(again)}`);
}

/** True for the error that ended the attempt before it: that one's outcome says the same. */
function isToldBy(
  before: DecisionView | undefined,
  { kind, message, times }: DecisionView,
): boolean {
  return kind === "error" && times === 1 && before?.outcome?.message === message;
}

function heldBy(detail: DeploymentDetail, time: (text: string) => string): string[] {
  const { pin, hold } = detail;
  const lines: string[] = [];
  if (pin !== undefined) {
    const at = pin.release === undefined ? "" : ` at release ${pin.release}`;
    const why = pin.reason === undefined ? "" : `: ${pin.reason}`;
    lines.push(
      `held back${at} since ${time(pin.pinned_at)}, until a commit with other inputs than ` +
        `${shortId(pin.revision)}, or stackwright unpin${why}`,
    );
  }
  if (hold !== undefined) {
    const { held_at: since, until, reason } = hold;
    const resume = `stackwright resume ${formatStackArguments(detail)}`;
    const end = until === undefined ? resume : time(until);
    const why = reason === "" ? "" : `: ${reason}`;
    lines.push(`held by a person since ${time(since)} until ${end}${why}`);
  }
  return lines;
}

/** Whose a stack is, where that was changed or is disputed. */
function ownedBy({ owner, current, why, ...key }: DeploymentDetail): string[] {
  if (owner === undefined) return [];
  const { handed_over: isHandedOver, former, refused } = owner;
  const said = [
    ...(why.includes(HANDED_OVER)
      ? []
      : [`belongs to ${formatOwner(owner)}, to which it was handed over`]),
    ...(former && current ? [`release ${current.number} is of ${formatOwner(former)}`] : []),
  ];
  return [
    ...(isHandedOver ? [said.join("; ")] : []),
    ...refused.map((each) =>
      `refused to ${formatOwner(each)}, which names it too; ` +
      `${formatAdoption(key, each)} hands it over`
    ),
  ];
}

function describeDecision(decision: DecisionView, time: (text: string) => string): string[] {
  const repeated = decision.times > 1
    ? `, ${decision.times} times until ${time(decision.last_at)}`
    : "";
  // Who holds a paused stack is in the message.
  const [reason] = (decision.reason ?? "").split(":");
  const shown = reason === "" ? "" : ` (${reason})`;
  // What was done has words of others in its message: those stay as they are.
  const message = decision.kind === "skip"
    ? withPeopleTimes(decision.message, (instant) => time(instant.toISOString()))
    : decision.message;
  return [
    "",
    `${time(decision.first_at)}${repeated}: ${decision.kind}${shown}: ${message}`,
    `  by ${decision.origin} ${decision.trigger}` +
    `${decision.revision === "" ? "" : `, at ${decision.revision}`}`,
    ...outcomeOf(decision, time),
    ...decision.changes.map(({ input, from, to }) =>
      `  input ${input}: ${shortDigest(from)} -> ${shortDigest(to)}`
    ),
    ...decision.services.map((each) =>
      `  ${each.name}: ${each.action}: ${each.because.join("; ")}`
    ),
  ];
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
function outcomeOf({ kind, outcome }: DecisionView, time: (text: string) => string): string[] {
  if (kind === "skip" || kind === "error") return [];
  if (outcome === undefined) return ["  outcome: not known; it is under way, or was interrupted"];
  const { status, message, retry_at: again } = outcome;
  return [
    `  outcome: ${status}: ` +
    `${headline(message)}${again === undefined ? "" : `; next try ${time(again)}`}`,
  ];
}

function shortDigest(text: string): string {
  return text === "absent" ? "nothing" : shortId(text.replace(/^[a-z]+:/, ""));
}
