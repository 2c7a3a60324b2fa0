import { isSince } from "./is_since.ts";
import { servicesOf } from "./model.ts";
import { type ComposeModel, errors, fewOf, listOf } from "../model/mod.ts";

/** The first version of compose that runs hooks (`post_start`); earlier ones silently ignore them. */
const RUNS_HOOKS = [2, 30] as const;

/**
 * Refuses hooks that the installed compose would silently ignore: the deployment would count as done
 * without them. Calls `version` only for hooks. Throws `unsupported`, and what `version` throws.
 */
export async function requireHooksRun(
  model: ComposeModel,
  name: string,
  version: () => Promise<string>,
): Promise<void> {
  const [service] = withHook(model, "post_start");
  if (service === undefined) return;
  const installed = await version();
  // An unknown version counts as new, so that it is not blocked.
  if (isSince(installed, RUNS_HOOKS, true)) return;
  throw errors.unsupported(
    `deployment ${name}: service ${service} has post_start, which the installed docker ` +
      `compose ${installed} would not run; install compose ${RUNS_HOOKS.join(".")} or newer`,
  );
}

/** Services with a hook. */
function withHook(model: ComposeModel, hook: "post_start" | "pre_start" | "pre_stop"): string[] {
  return Object.entries(servicesOf(model))
    .filter(([, definition]) => listOf(definition[hook]).length > 0).map(([name]) => name);
}

/**
 * What has to be said of hooks that Stackwright does not run: `pre_stop` of any service, since the engine
 * stops containers at many occasions that compose has no part in, and those of `jobs` before and after a run.
 */
export function hooksPassedOver(model: ComposeModel, jobs: ReadonlySet<string>): string[] {
  const stops = withHook(model, "pre_stop");
  const runs = new Set([...withHook(model, "pre_start"), ...withHook(model, "post_start")]);
  const ofJobs = [...runs].filter((name) => jobs.has(name));
  return [
    ...(stops.length === 0 ? [] : [
      `pre_stop of ${
        fewOf(stops)
      } is not run: containers get their stop_signal, and stop_grace_period`,
    ]),
    ...(ofJobs.length === 0 ? [] : [
      `pre_start and post_start of ${
        fewOf(ofJobs)
      } are run when it is deployed, not by runs of the job`,
    ]),
  ];
}
