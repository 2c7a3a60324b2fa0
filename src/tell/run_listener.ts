import {
  formatRevision,
  type RunReporter,
  type RunTarget,
  type SkipReason,
  type TargetEnd,
  type TargetListener,
  type ToldDecision,
} from "../model/mod.ts";

/** Makes the listener that updates a target's entry in a run. */
export function runListener(reporter: Pick<RunReporter, "target">): TargetListener {
  return ({ key, repository, configuration }) => {
    const sources = [repository, ...(configuration ? [configuration.source.name] : [])];
    let status: "pending" | "running" = "pending";
    let decision: ToldDecision | undefined;
    return (event) => {
      const revision = formatRevision(event.revision);
      const show = (rest: Omit<RunTarget, "context" | "stack" | "revision">) =>
        reporter.target({ context: key.context, stack: key.name, revision, ...rest }, sources);
      if (event.kind === "pending") show({ status });
      else if (event.kind === "step") show({ status, message: event.text });
      else if (event.kind === "decided") decision = event.decision;
      else if (event.kind === "ended") show(ended(event.end, decision));
      else if (event.kind === "started") {
        status = "running";
        show({ status });
      }
    };
  };
}

function ended(
  { status, message, reason, retryAt: again, isOthers = false }: TargetEnd,
  decision: ToldDecision | undefined,
): Omit<RunTarget, "context" | "stack" | "revision"> {
  const services = decision === undefined ? {} : { services: decision.services };
  const retryAt = again ?? (status === "skipped" ? decision?.retryAt : undefined);
  const when = retryAt === undefined ? {} : { retryAt };
  const whose = isOthers ? { isOthers } : {};
  if (status !== "skipped") return { status, message, ...services, ...when, ...whose };
  const why = reason ?? decision?.reason;
  const shown = why === undefined ? {} : { reason: shownReason(why, message) };
  return { status, ...shown, message, ...services, ...when };
}

/** A `paused` reason shows the message, which names the stack and the end of the pause. */
function shownReason(reason: SkipReason, message: string): SkipReason {
  return reason.startsWith("paused") ? `paused: ${message}` : reason;
}
