import { fewOf, isOurs, type ObservedStack, type Plan, type ReleaseService } from "../model/mod.ts";
import { withFewReasons } from "./replace_reasons.ts";
import { shouldRun } from "./should_run.ts";

/** Most containers that the message of a plan names; its reasons have more. */
const MOST_NAMED = 3;

/**
 * A plan with what it starts again: containers that Stackwright did not make and that do not run, maybe since
 * a person stopped them, have successors that do.
 */
export function withStarted(
  plan: Plan,
  desired: readonly ReleaseService[],
  { containers }: ObservedStack,
): Plan {
  const down = containers.filter((each) => !isOurs(each) && !UP.includes(each.state));
  if (plan.kind !== "deploy" || down.length === 0) return plan;
  const byName = new Map(desired.map((each) => [each.name, each]));
  const byService = Map.groupBy(down, ({ service }) => service);
  const started: string[] = [];
  const services = plan.services.map((each) => {
    const [service, own = []] = [byName.get(each.name), byService.get(each.name)];
    if (each.action !== "recreate" || service?.expectation.autostart !== true) return each;
    // What has ended as it may is no news.
    started.push(...own.filter((each) => shouldRun(service, each)).map(({ name }) => name));
    const because = own.map(({ name, state, exitCode }) =>
      `container ${name} does not run ` +
      `(${state}${exitCode === undefined ? "" : ` with ${exitCode}`}), ` +
      "and the new one is started"
    );
    return { ...each, because: [...each.because, ...because] };
  });
  const brief = { ...plan, services: withFewReasons(services) };
  if (started.length === 0) return brief;
  const names = fewOf(started, MOST_NAMED);
  return { ...brief, message: `${plan.message}; start ${names}, which did not run` };
}

/** States of what runs, or is about to. */
const UP = ["running", "restarting"];
